"""Counts of instructions: what callgrind writes is read, and work is counted without what comes before and after it."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from netuit import ToolError, bench_counts

ROOT = pathlib.Path(__file__).parents[3]
PROGRAM = r"""
#include <cstdio>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

extern "C" __attribute__((noinline)) void bench_counted(const std::function<void(std::uint64_t)>& work, std::uint64_t count) {
  work(count);
  asm volatile("" : : : "memory");
}
int main(int argc, char** argv) {
  if (argc != 4 || std::string_view(argv[1]) != "--count" || std::string_view(argv[2]) != "--filter") return 2;
  if (std::string_view(argv[3]) == "none") return 0;
  if (std::string_view(argv[3]) == "bad") return std::fprintf(stderr, "it is bad\n"), 3;
  std::vector<char> much(64 << 20);  // to be left out of the counts
  for (const int each : {1, 3}) {
    for (std::size_t i = 0; i < much.size(); i += 64) much[i] = 1;
    bench_counted([&](std::uint64_t count) {
      for (std::uint64_t i = 0; i < count * 64 * each; i += 64) *const_cast<volatile char*>(&much[i]) = 2;
    }, 1000);
    std::printf("a contest\tcompetitor %d\t1000\n", each);
  }
}
"""


def test_the_totals_of_a_dump_are_read():
    text = "version: 1\nevents: Ir Dr Dw I1mr D1mr D1mw\nfn=(1)\n16 400\n\ntotals: 4000 30 20 1 7\n"
    assert bench_counts._totals(text) == {"Ir": 4000, "Dr": 30, "Dw": 20, "I1mr": 1, "D1mr": 7, "D1mw": 0}
    with pytest.raises(ToolError, match="no totals"):
        bench_counts._totals("events: Ir\n")


def test_a_table_has_a_line_for_each_competitor_below_its_contest():
    counts = [bench_counts.Count("one", "a", 10, 250.04, 0.0), bench_counts.Count("one", "b", 10, 31.25, 1.5),
              bench_counts.Count("two", "c", 10, 4.125, 12.0)]
    words = [line.split() for line in bench_counts.table(counts)]
    assert words[1:] == [["one:"], ["a", "250", "0.00"], ["b", "31.2", "1.50"], ["two:"], ["c", "4.12", "12.0"]]
    assert bench_counts.rows(counts).splitlines()[:2] == ["contest\tcompetitor\toperations\tinstructions\tmisses", "one\ta\t10\t250.04\t0.0"]


@pytest.mark.skipif(shutil.which("valgrind") is None, reason="NOT TESTED: valgrind is missing")
def test_work_is_counted_alone(tmp_path):
    source = tmp_path / "program.cpp"
    source.write_text(PROGRAM)
    program = tmp_path / "program"
    subprocess.run(["c++", "-std=c++20", "-O1", "-o", program, source], check=True)
    first, second = bench_counts.measure(program, "", os.environ)
    assert (first.contest, first.competitor, first.operations) == ("a contest", "competitor 1", 1000)
    assert second.competitor == "competitor 3"
    assert 0.99 < first.misses < 1.05 and 2.97 < second.misses < 3.05
    assert 3 < first.instructions < 12
    assert 2.9 < second.instructions / first.instructions < 3.1
    again, _ = bench_counts.measure(program, "", os.environ)
    assert again.instructions == first.instructions
    assert bench_counts.measure(program, "none", os.environ) == []
    with pytest.raises(ToolError, match="code 3: it is bad"):
        bench_counts.measure(program, "bad", os.environ)


def test_bench_refuses_to_count_without_valgrind_before_it_builds(tmp_path):
    ended = subprocess.run([sys.executable, ROOT / "tools" / "bench", "--counts", "--build", tmp_path / "build"],
                           env=os.environ | {"PATH": str(tmp_path)}, capture_output=True, text=True, check=False, timeout=60)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == "bench: error: nothing can be counted, because valgrind is missing\n"
    assert list(tmp_path.iterdir()) == []
