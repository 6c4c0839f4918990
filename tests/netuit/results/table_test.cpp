#include <netuit/file/table.hpp>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <uit/support/error.hpp>
#include <unistd.h>

#include "tests/support/catch.hpp"

using netuit::CheckWritable;
using netuit::Table;

namespace {

/// A folder that is removed at the end of the test.
struct Folder {
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("table_test." + std::to_string(getpid()));
};

std::string Contents(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream{path}.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("rows read as CSV", "[channel_selection]") {
  Table table{{"a", "b", "c"}};
  table.Row().Add(3).Add("(0, 0)").Add(true);
  table.Row().Add(0.1).Add("say \"x\"").Add(false);
  REQUIRE(table.Text() == "a,b,c\n3,\"(0, 0)\",1\n0.1,\"say \"\"x\"\"\",0\n");
}

TEST_CASE("a saved table replaces the one before and leaves nothing beside it", "[channel_selection]") {
  const Folder folder;
  const auto path = folder.path / "rows.csv";
  Table table{{"a"}};
  table.Save(path.string());
  table.Row().Add(1);
  table.Save(path.string());
  REQUIRE(Contents(path) == "a\n1\n");
  REQUIRE(std::distance(std::filesystem::directory_iterator{folder.path}, {}) == 1);
}

TEST_CASE("whether a file can be written is found out without writing it", "[channel_selection]") {
  const Folder folder;
  REQUIRE_THROWS_AS(CheckWritable((folder.path / "no" / "rows.csv").string()), uit::OutputError);
  CheckWritable((folder.path / "rows.csv").string());
  REQUIRE(std::filesystem::is_empty(folder.path));
}
