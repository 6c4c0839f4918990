#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// Traffic like that of the benchmark DT of the NAS suite. In each pass, sources make data, which flow along the edges of a graph
/// without cycles. Each node combines what arrives, and sends the result on. Sinks add it up. Numbers are integers modulo 2^64, so
/// a result is exactly right or wrong.
namespace bench::traffic {

using Word = std::uint64_t;

/// One message, as large as the feature arrays of DT's class S.
inline constexpr std::size_t num_words = 1728;
/// After so many passes, the data repeat.
inline constexpr std::uint64_t period = 16;

/// A graph of which each node is a rank. Edges go from lower to higher numbers.
struct Graph {
  std::string name;
  std::vector<std::vector<std::size_t>> in{};
  std::vector<std::vector<std::size_t>> out{};

  [[nodiscard]] std::size_t Size() const { return in.size(); }
  void Resize(std::size_t size) {
    in.resize(size);
    out.resize(size);
  }
  void Join(std::size_t from, std::size_t to) {
    out[from].push_back(to);
    in[to].push_back(from);
  }
};

/// A tree from `num_sources` sources to one sink, in which up to four nodes send to one: 5, 11 or 21 nodes for 4, 8 or 16 sources.
[[nodiscard]] inline Graph BlackHole(std::size_t num_sources) {
  Graph graph{.name = "black hole"};
  graph.Resize(num_sources);
  std::size_t begin = 0;
  while (graph.Size() - begin > 1) {
    const std::size_t end = graph.Size();
    graph.Resize(end + (end - begin + 3) / 4);
    for (std::size_t node = begin; node < end; ++node) graph.Join(node, end + (node - begin) / 4);
    begin = end;
  }
  return graph;
}

/// The same from one source to `num_sinks` sinks.
[[nodiscard]] inline Graph WhiteHole(std::size_t num_sinks) {
  const Graph reversed = BlackHole(num_sinks);
  Graph graph{.name = "white hole"};
  graph.Resize(reversed.Size());
  const std::size_t last = reversed.Size() - 1;
  for (std::size_t node = last; node != 0; --node)
    for (const std::size_t from : reversed.in[node]) graph.Join(last - node, last - from);
  return graph;
}

/// Layers of `width` nodes, a power of two, such that data of each source reach each sink: 12 nodes for a width of 4.
[[nodiscard]] inline Graph Shuffle(std::size_t width) {
  Graph graph{.name = "shuffle"};
  graph.Resize(width);
  for (std::size_t stride = 1; stride < width; stride *= 2) {
    const std::size_t begin = graph.Size() - width;
    graph.Resize(graph.Size() + width);
    for (std::size_t i = 0; i < width; ++i) {
      graph.Join(begin + i, begin + width + i);
      graph.Join(begin + (i ^ stride), begin + width + i);
    }
  }
  return graph;
}

/// The data of one node in one pass: Begin, Add what arrives, then Finish. Data() is then the message to send on.
class Mill {
 public:
  explicit Mill(std::size_t node) : node_{node}, data_(num_words) {}

  /// Makes data that the next ones are added to.
  void Begin(std::uint64_t pass) {
    Word word = (pass % period) * 64 + node_ + 1;
    for (Word& each : data_) each = word = word * 6364136223846793005U + 1442695040888963407U;
  }
  void Add(std::span<const Word> arrived) {
    for (std::size_t i = 0; i < num_words; ++i) data_[i] = data_[i] * 3 + arrived[i];
  }
  [[nodiscard]] const std::vector<Word>& Data() const { return data_; }
  [[nodiscard]] Word Sum() const {
    Word sum = 0;
    for (const Word word : data_) sum += word;
    return sum;
  }

 private:
  std::size_t node_;
  std::vector<Word> data_;
};

/// What all sinks together add up in `num_passes` passes, by one thread.
class Reference {
 public:
  explicit Reference(const Graph& graph) {
    for (std::uint64_t pass = 0; pass < period; ++pass) {
      std::vector<Mill> mills;
      Word sum = 0;
      for (std::size_t node = 0; node < graph.Size(); ++node) {
        Mill& mill = mills.emplace_back(node);
        mill.Begin(pass);
        for (const std::size_t from : graph.in[node]) mill.Add(mills[from].Data());
        if (graph.out[node].empty()) sum += mill.Sum();
      }
      sums_.push_back(sum);
    }
  }
  [[nodiscard]] Word Sum(std::uint64_t num_passes) const {
    Word sum = 0;
    for (std::uint64_t pass = 0; pass < period; ++pass) sum += sums_[pass] * (num_passes / period + (pass < num_passes % period));
    return sum;
  }

 private:
  std::vector<Word> sums_;
};

}  // namespace bench::traffic
