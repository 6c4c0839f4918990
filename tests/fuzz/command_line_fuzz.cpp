// Command lines of the demos, one word a line, are accepted or refused in one line. The first line names the demo.
#include <sstream>
#include <vector>

#include "demos/channel_selection/options.hpp"
#include "demos/digital_evolution/options.hpp"
#include "tests/fuzz/fuzz.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace uit::fuzz;
  std::istringstream text{TextOf(data, size)};
  std::vector<std::string> words;
  for (std::string word; words.size() < 40 && std::getline(text, word);) words.emplace_back(word.c_str());
  if (words.empty()) words.emplace_back("conduit");
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  const int argc = static_cast<int>(argv.size());
  std::string answer;
  bool has_options = true;
  const bool is_accepted = Accepts(
      [&] {
        if (words[0].starts_with('d'))
          has_options = digital_evolution::ParseOptions(argc, argv.data(), answer).has_value();
        else
          has_options = channel_selection::ParseOptions(argc, argv.data(), answer).has_value();
      },
      "", false);
  if (is_accepted) Demand(has_options == answer.empty(), "a command line asks for a run or a text");
  return 0;
}
