#include <netuit/app/hosts.hpp>

#include <algorithm>
#include <string>

#include "tests/support/catch.hpp"

using netuit::Host;
using netuit::Hosts;

TEST_CASE("A process knows its host") {
  const Host host = Host::Here();
  CHECK_FALSE(host.name.empty());
  CHECK(host.num_cores >= 1);
  CHECK(host.memory_bytes > 1'000'000);
  REQUIRE_FALSE(host.cpus.empty());
  CHECK(std::ranges::is_sorted(host.cpus));
}

TEST_CASE("A job has too many workers once they outnumber the CPUs that it may use") {
  const std::size_t num_cpus = Host::Here().cpus.size();
  CHECK_FALSE(Hosts::Inspect({}, num_cpus).is_oversubscribed);
  CHECK(Hosts::Inspect({}, num_cpus + 1).is_oversubscribed);
}

TEST_CASE("A host description can be written and read") {
  const Host host{.name = "a, b",
                  .kernel = "k",
                  .processor = "p q",
                  .interconnect = "",
                  .num_cores = 3,
                  .memory_bytes = 12'345'678'901,
                  .cpus = {0, 5}};
  const std::string card = netuit::detail::ToCard(host);
  const auto* text = reinterpret_cast<const std::byte*>(card.data());
  const Host read = netuit::detail::FromCard(uit::Bytes(text, text + card.size()));
  CHECK(read.name == host.name);
  CHECK(read.kernel == host.kernel);
  CHECK(read.processor == host.processor);
  CHECK(read.interconnect.empty());
  CHECK(read.num_cores == 3);
  CHECK(read.memory_bytes == 12'345'678'901);
  CHECK(read.cpus == host.cpus);
}

TEST_CASE("The table of hosts has a row for each") {
  const Hosts hosts{.all = {{.name = "one, two", .cpus = {0}, .processes = {0, 2}}, {.name = "three", .processes = {1}}}};
  CHECK(hosts.ToTable().Text() ==
        "host,hostname,processor,cores,cpus_allowed,memory_bytes,interconnect,first_process,num_processes\n"
        "0,\"one, two\",,0,1,0,,0,2\n"
        "1,three,,0,0,0,,1,1\n");
}
