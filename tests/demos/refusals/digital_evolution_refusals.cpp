#include "tests/demos/refusals/refusal.hpp"

namespace refusals {
namespace {

/// Adds folders that are not whole checkpoints: copies of a checkpoint, changed in one way each.
void AddCheckpoints(const Folder& folder, std::vector<Refusal>& refusals) {
  const Folder elsewhere;
  Run(UIT_DIGITAL_EVOLUTION, {"--cells-per-worker", "9", "--updates", "16", "--mode", "0", "--checkpoint", "world"},
      elsewhere.Path());
  const auto add = [&](const std::string& name, const std::string& file, auto&& change, const std::string& says) {
    std::filesystem::copy(elsewhere.Path() / "world", folder.Path() / name, std::filesystem::copy_options::recursive);
    const std::string whole = ContentsOf(folder.Path() / name / file);
    if (whole.size() < 1000) throw std::runtime_error("digital_evolution has written no checkpoint");
    const std::string changed = change(whole);
    if (changed == whole) throw std::runtime_error(name + " is not changed");
    folder.Write(name + "/" + file, changed);
    refusals.push_back({{"--resume", name}, name + says});
  };
  const auto replace = [](const std::string& from, const std::string& to) {
    return [from, to](std::string text) {
      const std::size_t at = text.find(from);
      return at == std::string::npos ? text : text.replace(at, from.size(), to);
    };
  };
  const auto half = [](const std::string& whole) { return whole.substr(0, whole.size() / 2); };
  const std::string list = "checkpoint.json";
  add("stranger", list, replace("\"digital_evolution\"", "\"other\""), ": is not a checkpoint of digital_evolution");
  add("version", list, replace("\"digital_evolution\": \"", "\"digital_evolution\": \"1"),
      ": is of another version of digital_evolution");
  add("sides", list, replace("\"side\": \"3\"", "\"side\": \"4\""), ": is of another graph: it has 9 nodes");
  add("no_sides", list, replace("\"side\": \"3\"", "\"side\": \"0\""), ": is damaged");
  add("half", list, half, "/checkpoint.json: is no checkpoint, or damaged");
  const std::string cells = "data-0/places.bytes.npy";
  const std::string has_changed = "/" + cells + ": has changed since the checkpoint was made";
  add("short", cells, [](const std::string& whole) { return whole.substr(0, whole.size() - 100); }, has_changed);
  add("cells", cells, [](std::string text) {
    text[text.size() - 100] = static_cast<char>(text[text.size() - 100] ^ 0x10);
    return text;
  }, has_changed);
}

void AddGenomes(const Folder& folder, std::vector<Refusal>& refusals) {
  const auto add = [&](const std::string& name, const std::string& text, const std::string& says) {
    folder.Write(name, text);
    refusals.push_back({{"--ancestor", name}, name + says});
  };
  std::string long_one;
  for (int line = 0; line < 1001; ++line) long_one += "nop\n";
  add("empty.genome", "# nothing\n", ":1: the genome has no instruction");
  add("unknown.genome", "module @born\nset r0 1\nfrobnicate r1\n", ":3: 'frobnicate' is not an instruction");
  add("register.genome", "set r8 1\n", ":1: 'r8' is not a register");
  add("number.genome", "nop\nset r0 32768\n", ":2: '32768' is not a whole number");
  add("tag.genome", "module 123\n", ":1: '123' is not a tag");
  add("sensor.genome", "sense_self r0 luck\n", ":1: 'luck' is not a sensor");
  add("operand.genome", "add r0 r1\n", ":1: add lacks a register");
  add("more.genome", "nop nop\n", ":1: 'nop' is more than nop takes");
  add("hidden.genome", "add r0 r1 r2 ; 8 2 2\n", ":1: the bytes after ';'");
  add("nul.genome", std::string("nop\n\0", 5), ":2: a NUL byte");
  add("long.genome", long_one, ":1001: more than 1000 instructions");
}

}  // namespace

std::vector<Refusal> DigitalEvolutionRefusals(const Folder& folder) {
  std::vector<Refusal> refusals{
      {{"--resume", "no_such_folder"}, "no_such_folder: has no checkpoint: checkpoint.json is missing"},
      {{"--resume", "."}, ".: has no checkpoint"},
      {{"--resume", "/dev/zero"}, "/dev/zero: has no checkpoint"},
      {{"--ancestor", "no_such_file"}, "no_such_file: cannot be opened: No such file or directory"},
      {{"--rival", "."}, ".: is a directory"},
      {{"--cells-per-worker", "0"}, "--cells-per-worker 0"},
      {{"--cells-per-worker", "2"}, "--cells-per-worker: 2 cells"},
      {{"--cells-per-worker", "4294967295"}, "--cells-per-worker: more than 16777216 cells"},
      {{"--founders", "100000"}, "--founders: more than there are places"},
      {{"--founders", "4", "--resume", "c"}, "--founders: cannot be combined"},
      {{"--rival", "g", "--resume", "c"}, "--rival: cannot be combined"},
      {{"--ancestor", "g", "--resume", "c"}, "--ancestor: can be combined"},
      {{"--seed", "1", "--resume", "c"}, "--seed: cannot be combined with --resume, which sets it"},
      {{"--cells-per-worker", "3600", "--resume", "c"}, "--cells-per-worker: cannot be combined with --resume, which sets it"},
      {{"--modes", "0,3", "--resume", "c"}, "--resume: requires one run of one mode"},
      {{"--mutation-rate", "1.5"}, "--mutation-rate: not between 0 and 1"},
      {{"--mutation-rate", "nan"}, "--mutation-rate: not between 0 and 1"},
      {{"--harvest", "odd"}, "--harvest: odd not in"},
      {{"--metric", "odd"}, "--metric: odd not in"},
      {{"--match-threshold", "65"}, "--match-threshold: tags have 64 bits"},
      {{"--knock-out", "magic"}, "--knock-out magic: not a class of instructions"},
      {{"--sample-interval", "0"}, "--sample-interval"},
      {{"--checkpoint-every", "16"}, "--checkpoint-every: requires a --checkpoint folder"},
      {{"--checkpoint", "c", "--checkpoint-every", "17"}, "--checkpoint-every: not a multiple of 16"},
      {{"--checkpoint", "c", "--mode", "0", "--updates", "100"}, "--updates: not a multiple of 16"},
      {{"--checkpoint", "c", "--replicates", "2"}, "--checkpoint: requires one run of one mode"},
      {{"--unknown"}, "unknown option --unknown\n"},
      {{"--matric", "streak"}, "unknown option --matric; did you mean --metric?\n"},
      {{"--metric", "haming"}, "--metric: haming not in {hamming,streak}; did you mean hamming?\n"},
      {{"--knock-out", "sharing,mesaging"}, "--knock-out mesaging: not a class of instructions (--instructions lists them); did you mean messaging?\n"},
      {{"--checkpoint", "empty.genome/c"}, "empty.genome/c/checkpoint.json: cannot be written", 5},
      {{"--output", nowhere}, nowhere + ": cannot be written", 5},
      {{"--record", "empty.genome/folder"}, "empty.genome/folder/evolution.csv: cannot be written", 5},
  };
  AddGenomes(folder, refusals);
  AddCheckpoints(folder, refusals);
  return refusals;
}

}  // namespace refusals
