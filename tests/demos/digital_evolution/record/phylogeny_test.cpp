// The phylogeny of a run in parts has all taxa that live at its end, and all their ancestors.
#include "demos/digital_evolution/record/phylogeny.hpp"

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <netuit/checkpoint/checkpoint.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/demos/digital_evolution/world/worlds.hpp"
#include "tests/support/catch.hpp"

using namespace digital_evolution;
using digital_evolution::testing::BusyGenome;
using digital_evolution::testing::BusyRules;
using digital_evolution::testing::GenomeOf;
using digital_evolution::testing::Scene;

namespace {

struct Line {
  std::string ancestors;
  std::uint64_t origin = 0;
  std::string destruction;
  std::uint64_t length = 0;
  std::uint64_t num_cells = 0;
};

std::map<std::uint64_t, Line> ReadPhylogeny(const std::string& path) {
  std::ifstream stream{path};
  std::string header;
  std::getline(stream, header);
  REQUIRE(header == "id,ancestor_list,origin_time,destruction_time,taxon_label,genome_length,num_cells,total_cells");
  std::map<std::uint64_t, Line> lines;
  for (std::string text; std::getline(stream, text);) {
    std::istringstream fields{text};
    std::vector<std::string> words;
    for (std::string word; std::getline(fields, word, ',');) words.push_back(word);
    REQUIRE(words.size() == 8);
    lines[std::stoull(words[0])] = {words[1], std::stoull(words[2]), words[3], std::stoull(words[5]),
                                    std::stoull(words[6])};
  }
  return lines;
}

/// Returns the text that Save writes.
std::map<std::uint64_t, Line> LinesOf(const Phylogeny& phylogeny) {
  const auto path = (std::filesystem::temp_directory_path() / ("phylogeny_test." + std::to_string(getpid()))).string();
  phylogeny.Save(path);
  auto lines = ReadPhylogeny(path);
  std::filesystem::remove(path);
  return lines;
}

/// A program that bears offspring whenever it can.
const std::string bears = R"(
module @can_afford
  set r1 100
  endow r1
  spawn_new
  turn
  spawn_new
)";

}  // namespace

TEST_CASE("the phylogeny of a run in parts has every living taxon and all its ancestors", "[digital_evolution]") {
  const auto torus = netuit::MakeTorus(12, 12);
  Phylogeny phylogeny{2};
  Scene scene{torus, netuit::PlaceContiguous(torus, {.processes = 1, .threads = 2}), {}, BusyRules(), 5, phylogeny.MakeHooks()};
  scene.world.Found({.ancestor = BusyGenome()});
  phylogeny.NoteRoots(scene.world);
  const uit::World alone;
  for (const std::uint64_t part : {160U, 16U, 331U}) {
    scene.RunInStep(part);
    phylogeny.Gather(scene.world, alone);
  }

  const auto lines = LinesOf(phylogeny);
  std::map<std::uint64_t, std::uint64_t> alive;
  std::set<std::uint64_t> expected;  // taxa of offspring that has been sent and not born
  for (const Place& place : scene.world.Places()) {
    if (place.cell.IsAlive()) ++alive[place.cell.taxon];
  }
  scene.world.ForEachUnborn([&](const Place&, const auto& words) { expected.insert(TaxonOf(words)); });
  REQUIRE(alive.size() > 10);
  for (const auto& [taxon, count] : alive) {
    INFO("taxon " << taxon);
    REQUIRE(lines.contains(taxon));
    CHECK(lines.at(taxon).num_cells == count);
    CHECK(lines.at(taxon).destruction == "inf");
  }
  std::size_t num_roots = 0;
  std::map<std::uint64_t, std::size_t> num_children;
  for (const auto& [id, line] : lines) {
    INFO("taxon " << id << ", ancestors " << line.ancestors);
    if (line.ancestors == "[none]") {
      ++num_roots;
      continue;
    }
    const auto parent = lines.find(std::stoull(line.ancestors.substr(1)));
    REQUIRE(parent != lines.end());
    CHECK(parent->second.origin < line.origin);
    ++num_children[parent->first];
    if (!alive.contains(id)) CHECK(line.destruction != "inf");
  }
  CHECK(num_roots == 1);
  for (const auto& [id, line] : lines) {  // no leaf is extinct
    INFO("taxon " << id);
    CHECK((alive.contains(id) || num_children[id] != 0 || expected.contains(id)));
  }
}

TEST_CASE("the phylogeny of a world that goes on knows whose offspring was on its way", "[digital_evolution]") {
  const auto torus = netuit::MakeTorus(12, 12);
  const auto placement = netuit::PlaceContiguous(torus, {.processes = 1, .threads = 2});
  Rules rules = BusyRules();
  rules.inflow = ToResource(0.2);
  rules.mutation.per_birth = 1;
  rules.mutation.per_argument = 0.05;
  rules.max_age = 24;  // so a cell bears offspring once and dies before that offspring is born
  Scene before{torus, placement, {}, rules, 5};
  before.world.Found({.ancestor = GenomeOf(bears)});
  before.RunInStep(96);
  Phylogeny phylogeny{2};
  Scene after{torus, placement, {}, rules, 5, phylogeny.MakeHooks()};
  std::set<std::uint64_t> extinct;
  const auto folder = (std::filesystem::temp_directory_path() / ("phylogeny_test." + std::to_string(getpid()))).string();
  netuit::SaveCheckpoint(before.world.GetMesh(), folder);
  after.world.Load(folder);
  std::filesystem::remove_all(folder);
  after.world.ForEachUnborn([&](const Place&, const auto& words) { extinct.insert(TaxonOf(words)); });
  for (const Place& place : after.world.Places()) {
    if (place.cell.IsAlive()) extinct.erase(place.cell.taxon);
  }
  REQUIRE(extinct.size() > 3);  // taxa that exist only as offspring that has been sent
  phylogeny.NoteRoots(after.world);
  after.RunInStep(1);  // the update in which that offspring is born
  phylogeny.Gather(after.world, {});

  std::size_t num_children = 0;
  for (const auto& [id, line] : LinesOf(phylogeny)) {
    INFO("taxon " << id << ", ancestors " << line.ancestors);
    CHECK(line.length > 0);
    CHECK(line.origin >= 96);
    if (line.ancestors == "[none]") {
      if (line.num_cells == 0) CHECK(line.destruction == "96");
      continue;
    }
    const std::uint64_t parent = std::stoull(line.ancestors.substr(1));
    CHECK(LinesOf(phylogeny).contains(parent));
    num_children += extinct.contains(parent) ? 1 : 0;
  }
  CHECK(num_children > 0);
}

TEST_CASE("no taxon begins before its parent, however far workers drift apart", "[digital_evolution]") {
  const auto torus = netuit::MakeTorus(12, 12);
  Phylogeny phylogeny{2};
  Scene scene{torus, netuit::PlaceContiguous(torus, {.processes = 1, .threads = 2}), {}, BusyRules(), 5};
  scene.world.Found({.ancestor = BusyGenome()});
  phylogeny.NoteRoots(scene.world);
  const Hooks hooks = phylogeny.MakeHooks();
  Place place = scene.world.At(0);
  std::uint64_t parent = place.cell.taxon;
  const std::vector<std::uint64_t> ages{500, 300, 290};  // on workers 0, 1 and 1; each is the offspring of the one before
  for (std::uint32_t line = 0; line < ages.size(); ++line) {
    place.worker = line == 0 ? 0 : 1;
    place.cell.taxon = 1001 + line;
    hooks.on_birth(place, {.worker = place.worker, .age = ages[line], .parent_taxon = parent, .is_new_taxon = true});
    parent = place.cell.taxon;
  }
  place.cell.taxon = 1002;
  hooks.on_death(place, Death::old_age, 320);
  phylogeny.Gather(scene.world, uit::World{});

  const auto lines = LinesOf(phylogeny);
  for (const std::uint64_t taxon : {1001U, 1002U, 1003U}) CHECK(lines.at(taxon).origin == 500);
  CHECK(lines.at(1002).destruction == "500");
  CHECK(lines.at(1003).destruction == "inf");
}
