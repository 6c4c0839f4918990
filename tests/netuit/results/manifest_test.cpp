#include <netuit/app/manifest.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <uit/support/error.hpp>

#include "tests/support/catch.hpp"

using netuit::Manifest;

TEST_CASE("A manifest can be read back") {
  const auto path = std::filesystem::temp_directory_path() / ("manifest_test." + std::to_string(getpid()) + ".json");
  Manifest manifest{.program = "a \"program\"",
                    .commit = "0123456789ab-dirty",
                    .command_line = {"a", "--b", "c d\n"},
                    .seed = 7,
                    .modes = {0, 3}};
  manifest.oversubscribed = true;
  manifest.Save(path.string());

  const nlohmann::json read = nlohmann::json::parse(std::ifstream(path));
  CHECK(read["program"] == manifest.program);
  CHECK(read["commit"] == manifest.commit);
  CHECK(read["command_line"] == manifest.command_line);
  CHECK(read["seed"] == 7);
  CHECK(read["modes"] == manifest.modes);
  CHECK(read["oversubscribed"] == true);
  CHECK(read["complete"] == false);
  CHECK(read["started"] == manifest.started);
  CHECK(manifest.started.size() == std::string("2000-01-01T00:00:00Z").size());
  std::filesystem::remove(path);
}

TEST_CASE("A manifest that cannot be written says so") {
  const Manifest manifest;
  CHECK_THROWS_AS(manifest.Save("/nowhere/at/all.json"), uit::OutputError);
}
