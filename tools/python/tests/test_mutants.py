"""The operators of tools/mutants, on small headers."""

import pathlib
import shutil
import subprocess
import sys
import textwrap

import pytest

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

pytest.importorskip("tree_sitter", reason="tree-sitter is missing")
MUTANTS = pathlib.Path(__file__).parents[3] / "tests" / "mutants"
sys.path.insert(0, str(MUTANTS))
import operators  # noqa: E402
import trials  # noqa: E402


def candidates(text):
    return operators.find("own.hpp", textwrap.dedent(text).encode())


def changes(text, operator):
    return [candidate.what for candidate in candidates(text) if candidate.operator == operator]


def test_each_operator_finds_its_places():
    text = """
    bool Less(int a, int b) {
      Note(a, b);
      last = a;
      if (a == b && word.load(std::memory_order_acquire)) return false;
      return a + 1 < b;
    }
    int Count() { return num; }
    """
    assert changes(text, "swapped comparison") == ["a == b -> (a != b)", "a + 1 < b -> (a + 1 <= b)"]
    assert changes(text, "and for or") == [
        "a == b && word.load(std::memory_order_acquire) -> (a == b || word.load(std::memory_order_acquire))"
    ]
    assert changes(text, "dropped call") == ["Note(a, b); -> "]
    assert changes(text, "dropped assignment") == ["last = a; -> "]
    assert changes(text, "swapped arguments") == ["Note(a, b) -> Note(b, a)"]
    assert changes(text, "relaxed memory order") == ["std::memory_order_acquire -> std::memory_order_relaxed"]
    assert changes(text, "plus for minus") == ["a + 1 -> (a - 1)"]
    assert changes(text, "off by one")[0] in ("1 -> 1 + 1", "1 -> 1 - 1")
    assert "return false -> return true" in changes(text, "returned constant")
    assert "return num -> return 0" in changes(text, "returned constant")
    assert len(changes(text, "negated condition")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "#define UIT_SIZE (1 + 1)",
        "static_assert(1 + 1 == 2);",
        "constexpr int size = 1 + 1;",
        "struct Own { static constexpr bool is_big = 1 < 2; };",
        "const int size = 3;",
        "template <int N = 3> requires (N > 1) struct Own {};",
        "template <typename T> concept Small = sizeof(T) < 3 && true;",
        "enum class Kind { one = 1 + 1 };",
        "consteval int Size() { return 3 + 4; }",
        "void F() { int numbers[3 + 4]; std::array<int, 3> others; }",
        'void F() { throw Error("text" + Number(a + 1)); }',
        'void F() { std::fprintf(stderr, "%d", a + 1); }',
        "void F() { words.reserve(num); }",
    ],
)
def test_what_the_compiler_evaluates_or_only_words_an_error_is_left_alone(text):
    assert [candidate.what for candidate in candidates(text)] == []


def test_an_assertion_is_dropped_as_a_whole_or_left_alone():
    found = candidates('void F() { UIT_ASSERT(a < 3 && b, "text"); }')
    assert [candidate.operator for candidate in found] == ["dropped call"]


def test_only_the_condition_of_an_if_constexpr_is_left_alone():
    assert [c.what for c in candidates("void F() { if constexpr (a < b) Call(); }")] == ["Call(); -> "]


def test_two_mutants_never_share_a_line():
    sample = operators.Sample()
    found = candidates("void F() {\n  if (a < b) Call(a, b);\n  x = 3;\n}\n")
    for candidate in found:
        sample.take(candidate)
    assert [candidate.line for candidate in sample.chosen] == [2, 3]
    assert sample.num_in_the_way == len(found) - 2


def test_a_sample_depends_on_its_seed_alone():
    found = candidates("void F() {\n" + "".join(f"  if (a < {i}) Call();\n" for i in range(50)) + "}\n")
    drawn = [[c.edits for c in operators.shuffled(found, seed)] for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_every_equivalent_mutant_is_one_of_the_headers_and_has_a_reason():
    rows = tomllib.loads((MUTANTS / "equivalent.toml").read_text())["mutant"]
    for row in rows:
        source = (MUTANTS.parents[1] / "include" / row["file"]).read_bytes()
        lines = [line.strip() for line in source.decode().splitlines()]
        found = {
            (lines[c.line - 1], c.operator) for c in operators.find(row["file"], source) if row.get("after", c.after) == c.after
        }
        assert (row["line"], row["operator"]) in found, row
        assert row["reason"]


PROGRAM = """
#include <cstdio>
#include <cstdlib>

int total = 0;
void Add(int a, int b) {
  total += 10 * a + b;
}
bool IsLess(int a, int b) {
  return a < b;
}
constexpr int Twice(int a) { return a + a; }
static_assert(Twice(2) == 4);
int main() {
  if (IsLess(1, 1)) std::puts("less");
  Add(Twice(1), 2);
  std::printf("%d\\n", total);
  return 0;
}
"""


def test_a_mutant_changes_the_program_only_when_it_is_on_and_says_when_it_is_reached(tmp_path):
    compiler = next(filter(None, map(shutil.which, ("c++", "g++", "clang++"))), None)
    assert compiler is not None
    wanted = {
        "swapped comparison": b"less\n22\n",
        "dropped assignment": b"0\n",
        "swapped arguments": b"22\n",  # of equal arguments
        "plus for minus": b"2\n",
        "dropped call": b"0\n",
    }
    found = [c for c in operators.find("own.hpp", PROGRAM.encode()) if c.line in (7, 10, 12, 16)]
    chosen = {}
    for name in wanted:
        line = {"swapped comparison": 10, "dropped assignment": 7, "plus for minus": 12}.get(name, 16)
        chosen[name] = next(c for c in found if c.operator == name and c.line == line)
    seen = {}
    for number, (name, candidate) in enumerate(chosen.items(), 1):
        source, program = tmp_path / f"{number}.cpp", tmp_path / f"{number}"
        source.write_bytes(operators.apply(PROGRAM.encode(), [(number, candidate)]))
        assert source.read_text().count("\n") == PROGRAM.count("\n")
        subprocess.run(
            [compiler, "-std=c++20", "-include", MUTANTS / "uit_mutant.hpp", source, "-o", program], check=True, timeout=120
        )
        reached = tmp_path / "reached"
        reached.write_bytes(bytes(number + 2))
        off = subprocess.run([program], capture_output=True, check=True, env={"UIT_MUTANT_REACHED": str(reached)}, timeout=60)
        assert off.stdout == b"22\n"
        assert reached.read_bytes() == bytes(number) + b"\1\0"
        seen[name] = subprocess.run([program], capture_output=True, check=True, env={"UIT_MUTANT": str(number)}, timeout=60).stdout
    assert seen == wanted


@pytest.mark.parametrize(("said", "how"), [("put 7\nheat 4096", "passed"), ("heat 4096\nput 7", "failed"), ("put 7\nheat 4096\nerror", "failed")])
def test_a_run_is_judged_by_its_output_as_ctest_does(said, how):
    """To CTest, '.' matches the end of a line, too."""
    properties = {"PASS_REGULAR_EXPRESSION": ["put [0-9]+.*heat 4096"], "FAIL_REGULAR_EXPRESSION": ["heat.*error"]}
    test = trials.Test("heat", "heat", ["heat"], properties)
    assert trials.judge(test, 0, said, 0.1, 5).how == how
