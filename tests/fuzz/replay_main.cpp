// Replaces libFuzzer's main: calls a target with each file that the command line names, and with each file of the folders
// named.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/fuzz/fuzz.hpp"

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  std::vector<fs::path> paths;
  for (const std::string& argument : std::vector<std::string>(argv + 1, argv + argc)) {
    if (fs::is_directory(argument))
      std::copy(fs::directory_iterator{argument}, fs::directory_iterator{}, std::back_inserter(paths));
    else
      paths.emplace_back(argument);
  }
  std::sort(paths.begin(), paths.end());
  LLVMFuzzerTestOneInput(nullptr, 0);
  for (const fs::path& path : paths) {
    std::ifstream file{path, std::ios::binary};
    const std::string text{std::istreambuf_iterator<char>{file}, {}};
    std::fprintf(stderr, "%s\n", path.filename().c_str());  // in a crash, the last line names the input
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }
  std::printf("%zu inputs replayed\n", paths.size());
  return paths.empty() ? 1 : 0;
}
