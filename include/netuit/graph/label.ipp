#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <netuit/graph/label.hpp>
#include <uit/config.hpp>

namespace netuit {

UIT_DEFINE Labels::Labels(std::initializer_list<std::string_view> labels) {
  for (const std::string_view label : labels) Add(label);
}

UIT_DEFINE Labels::Labels(const std::vector<std::string>& labels) {
  for (const std::string& label : labels) Add(label);
}

UIT_DEFINE void Labels::Add(std::string_view label) {
  text_.append(label);
  ends_.push_back(text_.size());
}

UIT_DEFINE void Labels::ShrinkToFit() {
  text_.shrink_to_fit();
  ends_.shrink_to_fit();
}

UIT_DEFINE bool Labels::operator==(const Labels&) const = default;

}  // namespace netuit
