#include "race.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <netuit/mesh/on_root.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>

namespace graphs {
namespace {

double Median(std::vector<double> values) {
  std::ranges::sort(values);
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

}  // namespace

double Race::Time(const Way& way, std::size_t trial) const {
  world_.Agree("");  // all start together
  const uit::TimePoint start = uit::Now();
  way.run(trial);
  const double mine = std::chrono::duration<double>(uit::Now() - start).count();
  const double seconds = std::ranges::max(world_.AllGatherValue(mine));
  const std::string complaint = way.complaint(trial);
  netuit::OnRoot(world_, [&] {  // so that only one process prints an error
    if (!complaint.empty()) throw uit::Error(way.name + ", trial " + std::to_string(trial) + ": " + complaint);
    return true;
  });
  return seconds;
}

void Race::Run(std::size_t num_trials, const std::function<double(std::size_t trial)>& work) {
  std::vector<std::vector<double>> seconds(ways_.size(), std::vector<double>(num_trials));
  for (const Way& way : ways_) Time(way, 0);
  for (std::size_t trial = 0; trial < num_trials; ++trial)
    for (std::size_t i = 0; i < ways_.size(); ++i) {
      const std::size_t turn = (trial + i) % ways_.size();
      seconds[turn][trial] = Time(ways_[turn], trial);
    }
  if (world_.IsRoot()) Print(seconds, work);
}

void Race::Print(const std::vector<std::vector<double>>& seconds, const std::function<double(std::size_t trial)>& work) const {
  std::puts("way,processes,nodes,edges,trials,million_edges_per_second,slowest,fastest,ratio");
  for (std::size_t way = 0; way < ways_.size(); ++way) {
    std::vector<double> rates;
    std::vector<double> ratios;
    double sum_of_inverses = 0;
    for (std::size_t trial = 0; trial < seconds[way].size(); ++trial) {
      rates.push_back(work(trial) / seconds[way][trial] / 1e6);
      ratios.push_back(seconds[0][trial] / seconds[way][trial]);
      sum_of_inverses += 1 / rates.back();
    }
    const double harmonic_mean = static_cast<double>(rates.size()) / sum_of_inverses;
    std::printf("%s,%zu,%u,%llu,%zu,%.4g,%.4g,%.4g,%.3f\n", ways_[way].name.c_str(), world_.Size(), mesh_.NumNodes(),
                static_cast<unsigned long long>(mesh_.NumEdges()), rates.size(), harmonic_mean, std::ranges::min(rates),
                std::ranges::max(rates), Median(std::move(ratios)));
  }
  std::fflush(stdout);
}

}  // namespace graphs
