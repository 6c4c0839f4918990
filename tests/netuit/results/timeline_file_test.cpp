#include <netuit/results/timeline_file.hpp>

#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include <netuit/quality/timeline.hpp>
#include <uit/support/error.hpp>

#include "tests/support/catch.hpp"

using namespace netuit;
using namespace std::chrono_literals;

TEST_CASE("A timeline is written as trace events that Perfetto reads") {
  const auto path = std::filesystem::temp_directory_path() / ("timeline_test." + std::to_string(getpid()) + ".json");
  Timeline first;
  first.spans = {{.worker = {0, 0}, .activity = Activity::receive, .begin = 0ns, .length = 1500ns},
                 {.worker = {0, 0}, .activity = Activity::update, .is_last = 1, .begin = 1500ns, .length = 2us},
                 {.worker = {1, 1}, .activity = Activity::barrier, .begin = 7ns, .length = 1ns}};
  first.counts = {{.worker = {1, 1}, .time = 5us, .attempted = 9, .refused = 1, .read = 6, .replaced = 2}};
  Timeline second;
  second.spans = {{.worker = {0, 0}, .activity = Activity::end, .begin = 1ms, .length = 1s}};
  TimelineFile file;
  file.Add("a \"run\"", first);
  file.Add("another", second);
  file.Save(path);

  const auto json = nlohmann::json::parse(std::ifstream(path));
  std::filesystem::remove(path);
  std::string told;
  for (const auto& event : json.at("traceEvents")) {
    const std::string kind = event.at("ph");
    told += kind + " " + event.at("name").get<std::string>() + " " + std::to_string(event.at("pid").get<int>());
    if (kind == "X") told += " " + std::to_string(event.at("tid").get<int>()) + " " + event.at("ts").dump() + " " + event.at("dur").dump();
    if (kind == "M" || kind == "C") told += " " + event.at("args").dump();
    told += '\n';
  }
  CHECK(told == "M process_name 0 {\"name\":\"a \\\"run\\\": process 0\"}\n"
                "M thread_name 0 {\"name\":\"thread 0\"}\n"
                "M thread_name 1 {\"name\":\"thread 1\"}\n"
                "X receive 0 0 0.0 1.5\n"
                "X update 0 0 1.5 2.0\n"
                "i later spans were not recorded 0\n"
                "X barrier 1 1 0.007 0.001\n"
                "C messages of thread 1 1 {\"read\":6,\"refused\":1,\"replaced\":2}\n"
                "M process_name 2 {\"name\":\"another: process 0\"}\n"
                "M thread_name 2 {\"name\":\"thread 0\"}\n"
                "X end 2 0 1000.0 1000000.0\n");
  CHECK_THROWS_AS(file.Save(path / "no"), uit::OutputError);
}
