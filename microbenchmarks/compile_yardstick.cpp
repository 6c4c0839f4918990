// The yardstick of compile_budgets.json: a program that uses the standard library as most programs do.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv, argv + argc);
  std::map<std::string, std::function<std::size_t()>> sizes;
  for (const std::string& word : words) sizes[word] = [&word] { return word.size(); };
  std::size_t sum = 0;
  std::thread worker{[&] {
    for (const auto& [word, size] : sizes) sum += size();
  }};
  worker.join();
  const auto longest = std::ranges::max_element(words, {}, &std::string::size);
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  std::printf("%zu %s %lld\n", sum, longest->c_str(), static_cast<long long>(now));
}
