#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <netuit/graph/label.hpp>
#include <netuit/graph/label_hash.hpp>
#include <uit/support/assert.hpp>

namespace netuit {

/// The value of a label that is a whole number below 2^63 in its shortest form, as in "17" but not "017".
constexpr std::optional<std::uint64_t> WholeNumber(std::string_view label) {
  if (label.empty() || label.size() > 19 || (label[0] == '0' && label.size() > 1)) return std::nullopt;
  std::uint64_t value = 0;
  for (const char digit : label) {
    if (digit < '0' || digit > '9') return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  if (value >> 63U != 0) return std::nullopt;
  return value;
}

/// Numbers labels in order of first appearance.
///
/// An open-addressed table in one array. A whole number is its own key, so a search for it never reads its text. The time is
/// linear in the length of the labels, for any labels. The numbers do not depend on the hash's key.
class LabelIndex {
 public:
  LabelIndex() = default;
  /// With a hash of your own, for tests.
  explicit LabelIndex(detail::LabelHash hash) : hash_{std::move(hash)} {}

  /// The number of a label; none if the label is unknown.
  std::optional<NodeId> Find(std::string_view label) const {
    if (slots_.empty()) return std::nullopt;
    const Slot& slot = slots_[Locate(label, KeyOf(label))];
    return slot.node == vacant ? std::nullopt : std::optional<NodeId>{slot.node};
  }

  /// The number of a label. A new label gets the next free number. At most 2^32 - 1 labels.
  NodeId FindOrAdd(std::string_view label) {
    if (2 * (labels_.Size() + 1) > slots_.size()) Grow();
    const std::uint64_t key = KeyOf(label);
    Slot& slot = slots_[Locate(label, key)];
    if (slot.node == vacant) {
      UIT_ASSERT(labels_.Size() < vacant, "a NodeId counts to 2^32 - 2");
      slot = {key, static_cast<NodeId>(labels_.Size())};
      labels_.Add(label);
    }
    return slot.node;
  }

  /// How many labels have a number.
  std::size_t Size() const { return labels_.Size(); }

  /// The total number of slots that one search for each label visits: about 1.5 per label.
  std::size_t NumProbes() const {
    std::size_t num_probes = 0;
    for (std::size_t at = 0; at < slots_.size(); ++at) {
      if (slots_[at].node != vacant) num_probes += 1 + ((at - Start(slots_[at].key)) & (slots_.size() - 1));
    }
    return num_probes;
  }

  /// All labels by number; empties the index.
  Labels Take() {
    slots_.clear();
    return std::exchange(labels_, Labels{});
  }

 private:
  static constexpr NodeId vacant = std::numeric_limits<NodeId>::max();

  struct Slot {
    std::uint64_t key = 0;
    NodeId node = vacant;
  };

  /// The top bit is clear for whole numbers and set for hashes of words.
  std::uint64_t KeyOf(std::string_view label) const {
    if (const auto number = WholeNumber(label)) return *number;
    return hash_.OfWord(label) | (std::uint64_t{1} << 63U);
  }

  /// Returns the slot where the search begins. Four consecutive numbers share a cache line.
  std::size_t Start(std::uint64_t key) const {
    return (hash_.OfNumber(key >> 2U) << 2U | (key & 3U)) & (slots_.size() - 1);
  }

  std::size_t Locate(std::string_view label, std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = Start(key);; at = (at + 1) & mask) {
      const Slot& slot = slots_[at];
      if (slot.node == vacant) return at;
      if (slot.key == key && (key >> 63U == 0 || labels_[slot.node] == label)) return at;
    }
  }

  void Grow() {
    std::vector<Slot> old(slots_.empty() ? 1024 : 2 * slots_.size());
    old.swap(slots_);
    const std::size_t mask = slots_.size() - 1;
    for (const Slot& slot : old) {
      if (slot.node == vacant) continue;
      std::size_t at = Start(slot.key);
      while (slots_[at].node != vacant) at = (at + 1) & mask;
      slots_[at] = slot;
    }
  }

  detail::LabelHash hash_;
  Labels labels_;
  std::vector<Slot> slots_;
};

}  // namespace netuit
