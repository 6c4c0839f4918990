#include "tests/demos/refusals/refusal.hpp"

namespace refusals {
namespace {

/// Adds files that are not whole checkpoints: copies of a checkpoint, changed or cut in one way each.
void AddCheckpoints(const Folder& folder, std::vector<Refusal>& refusals) {
  const Folder elsewhere;
  Run(UIT_DIGITAL_EVOLUTION, {"--cells-per-worker", "9", "--updates", "16", "--mode", "0", "--checkpoint", "world"},
      elsewhere.Path());
  const std::string whole = ContentsOf(elsewhere.Path() / "world");
  if (whole.size() < 1000) throw std::runtime_error("digital_evolution has written no checkpoint");
  const auto add = [&](const std::string& name, const std::string& bytes, const std::string& says) {
    folder.Write(name, bytes);
    refusals.push_back({{"--resume", name}, name + ": " + says});
  };
  const auto with = [&whole](std::size_t at) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    return changed;
  };
  add("nothing", "", "is not a checkpoint of digital_evolution");
  add("stranger", with(3), "is not a checkpoint of digital_evolution");
  add("magic", whole.substr(0, 32), "is cut short");
  add("half", whole.substr(0, whole.size() / 2), "is cut short");
  add("longer", whole + 'x', "has data after its end");
  add("version", with(32), "is of another version of digital_evolution");
  add("sides", with(40), "is damaged");
  add("cells", with(whole.size() - 100), "is damaged");
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
      {{"--resume", "no_such_file"}, "no_such_file: cannot be opened: No such file or directory"},
      {{"--resume", "."}, ".: is a directory"},
      {{"--resume", "/dev/zero"}, "/dev/zero: is not a checkpoint of digital_evolution"},
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
      {{"--checkpoint-every", "16"}, "--checkpoint-every: requires a --checkpoint file"},
      {{"--checkpoint", "c", "--checkpoint-every", "17"}, "--checkpoint-every: not a multiple of 16"},
      {{"--checkpoint", "c", "--mode", "0", "--updates", "100"}, "--updates: not a multiple of 16"},
      {{"--checkpoint", "c", "--replicates", "2"}, "--checkpoint: requires one run of one mode"},
      {{"--unknown"}, "The following argument was not expected: --unknown"},
      {{"--checkpoint", nowhere}, nowhere + ": cannot be written", 5},
      {{"--output", nowhere}, nowhere + ": cannot be written", 5},
      {{"--record", "empty.genome/folder"}, "empty.genome/folder/evolution.csv: cannot be written", 5},
  };
  AddGenomes(folder, refusals);
  AddCheckpoints(folder, refusals);
  return refusals;
}

}  // namespace refusals
