#include "tests/demos/refusals/refusal.hpp"

namespace refusals {
namespace {

/// Some files of each kind from the corpus whose expected.tsv has the error messages.
void AddFiles(std::vector<Refusal>& refusals) {
  const std::filesystem::path files = UIT_FILES;
  const std::string torus = files / "good/torus_3x4.edgelist";
  std::map<std::string, std::string> says;
  std::ifstream table{files / "bad/expected.tsv"};
  for (std::string name, line, reason; std::getline(table, name, '\t') && std::getline(table, line, '\t');) {
    std::getline(table, reason);
    std::filesystem::path path = files / "bad" / name;
    says[name] = path.string() + ':' + line + ": ";
    for (const std::string place : {"{path}", "{stem}"}) {
      if (const std::size_t at = reason.find(place); at != std::string::npos) reason.replace(at, place.size(), path.string());
      path.replace_extension();
    }
    says[name] += reason;
  }
  for (const char* name :
       {"crlf.edgelist", "byte_order_mark.edgelist", "nul_byte.edgelist", "not_quite_a_number.edgelist", "empty.edgelist",
        "very_huge_id.edgelist", "negative_id.edgelist", "one_label.edgelist", "too_many_words.edgelist", "weight_nan.edgelist",
        "short_graphml.edgelist", "header.csv", "utf16.edgelist", "brackets_deep.edgelist", "quote_unclosed.edgelist",
        "data_unclosed.edgelist", "data.adjlist", "degree_too_large.multiline_adjlist",
        "degree_huge.multiline_adjlist", "no_nodes.graph",
        "header_huge.graph", "header_huge_edges.graph", "format_unknown.graph", "too_few_lines.graph", "too_many_lines.graph",
        "neighbor_zero.graph", "neighbor_too_large.graph", "one_way.graph", "fewer_edges_than_promised.graph",
        "node_weight_negative.graph"})
    refusals.push_back({{"--graph", files / "bad" / name}, says.at(name)});
  for (const char* name : {"worker_too_large.part", "worker_negative.part", "worker_fraction.part", "two_workers.part",
                           "one_missing.part", "one_too_many.part", "empty.part", "binary.part"})
    refusals.push_back({{"--graph", torus, "--threads", "4", "--placement", files / "bad" / name}, says.at(name)});
  for (const char* name : {"one_missing.weights", "unknown_label.weights", "label_twice.weights", "negative.weights"})
    refusals.push_back({{"--graph", torus, "--node-weights", files / "bad" / name}, says.at(name)});
}

}  // namespace

std::vector<Refusal> ChannelSelectionRefusals(const Folder& folder) {
  folder.Write("small.edgelist", "0 1\n1 2\n");
  folder.Write("zeros.edgelist", "0 1\n");
  std::filesystem::resize_file(folder.Path() / "zeros.edgelist", std::uintmax_t{1} << 30U);
  folder.Write("endless.edgelist", std::string(std::size_t{2} << 20U, 'x'));
  std::filesystem::resize_file(folder.Path() / "endless.edgelist", std::uintmax_t{1} << 30U);  // one line without an end
  std::vector<Refusal> refusals{
      {{"--graph", "endless.edgelist"}, "endless.edgelist:1: a line longer than 1048576 bytes"},
      {{"--graph", "zeros.edgelist"}, "zeros.edgelist:2: a NUL byte: this is not text"},
      {{"--graph", "/dev/zero"}, "/dev/zero:1: a NUL byte"},
      {{"--graph", "no_such_file"}, "no_such_file: cannot be opened: No such file or directory"},
      {{"--graph", "two\nlines"}, "two?lines: cannot be opened"},
      {{"--graph", "."}, ".: is a directory"},
      {{"--graph", "small.edgelist/x"}, "small.edgelist/x: cannot be opened: Not a directory"},
      {{"--graph", "small.edgelist", "--threads", "9"}, "more workers (9) than nodes (3)"},
      {{"--placement", "no_such_placement"}, "no_such_placement: cannot be opened"},
      {{"--placement", "."}, ".: is a directory"},
      {{"--graph", "small.edgelist", "--node-weights", "."}, ".: is a directory"},
      {{"--threads", "0"}, "--threads 0"},
      {{"--threads", "-1"}, "--threads: -1 is negative"},
      {{"--threads", "two"}, "Could not convert: --threads"},
      {{"--threads", "99999999999999999999999"}, "--threads: more than 4096"},
      {{"--threads", "5000"}, "--threads: more than 4096"},
      {{"--mode", "6"}, "unknown mode 6"},
      {{"--modes", "0,no_mode"}, "unknown mode no_mode"},
      {{"--mode"}, "--mode"},
      {{"--duration", "0"}, "--duration 0"},
      {{"--duration", "-1s"}, "--duration -1s"},
      {{"--duration", "5 apples"}, "--duration 5 apples: unknown unit apples"},
      {{"--duration", "nan"}, "--duration nan"},
      {{"--duration", "1e12"}, "--duration 1e12: longer than 285 years"},
      {{"--updates", "-5"}, "--updates: -5 is negative"},
      {{"--updates", "0", "--duration", "0"}, "--duration 0"},
      {{"--replicates", "0"}, "--replicates 0"},
      {{"--clock-every", "0"}, "--clock-every 0"},
      {{"--period-rolling", "0"}, "--period-rolling"},
      {{"--period-fixed", "0ms"}, "--period-fixed"},
      {{"--snapshot-interval", "0", "--quality", "q.csv"}, "--snapshot-interval"},
      {{"--snapshot-length", "0", "--quality", "q.csv"}, "--snapshot-length"},
      {{"--quality-channels"}, "--quality-channels: requires a --quality file"},
      {{"--seed", "x"}, "Could not convert: --seed"},
      {{"--nodes-per-worker", "0"}, "--nodes-per-worker 0"},
      {{"--nodes-per-worker", "1"}, "--nodes-per-worker: 1 nodes"},
      {{"--nodes-per-worker", "4294967295"}, "--nodes-per-worker: more than 16777216 nodes"},
      {{"--addressing", "post"}, "unknown addressing post"},
      {{"--colors", "1"}, "--colors"},
      {{"--colors", "1025"}, "--colors: more than 1024"},
      {{"--b", "1.5"}, "--b: not between 0 and 1"},
      {{"--b", "nan"}, "--b: not between 0 and 1"},
      {{"--work", "-1"}, "--work: -1 is negative"},
      {{"--directed"}, "--directed: requires a --graph"},
      {{"--frames", "f.csv", "--updates", "5"}, "--frames: requires a --duration"},
      {{"--frame-interval", "0"}, "--frame-interval"},
      {{"--unknown"}, "unknown option --unknown\n"},
      {{"--duraton", "5s"}, "unknown option --duraton; did you mean --duration?\n"},
      {{"--mode", "no_barier"}, "unknown mode no_barier (0 every_update, 1 rolling, 2 fixed, 3 no_barrier, 4 no_communication, "
                                "5 dataflow); did you mean no_barrier?\n"},
      {{"stray"}, "unexpected argument stray\n"},
      {{"two\nlines"}, "unexpected argument two?lines"},
      {{"--output", nowhere}, nowhere + ": cannot be written", 5},
      {{"--output", "."}, ".: cannot be written", 5},
      {{"--quality", nowhere}, nowhere + ": cannot be written", 5},
      {{"--colors-output", "small.edgelist/x"}, "small.edgelist/x: cannot be written", 5},
      {{"--frames", nowhere}, nowhere + ": cannot be written", 5},
  };
  AddFiles(refusals);
  return refusals;
}

}  // namespace refusals
