# shellcheck shell=sh disable=SC2154 # of tools/test, which reads this
# What tools/test --nightly runs beyond the stages of every commit; each also by tools/test --preset NAME.

with_clang() { # with_clang STAGE COMMAND…: with $clang, if there is one
  of=$1
  shift
  if find_clang; then "$@"; else not_tested "$of" 'clang >= 16 is missing'; fi
}
with_mpich() { # with_mpich STAGE COMMAND…: with $mpich_options, if it works
  of=$1
  shift
  mpich_options='-DMPI_CXX_COMPILER=mpicxx.mpich -DMPIEXEC_EXECUTABLE=mpirun.mpich'
  if have mpicxx.mpich && mpich_works mpicxx.mpich mpirun.mpich; then "$@"; else not_tested "$of" 'no MPICH that works'; fi
}

# Thread and address sanitizers by another compiler and over the other MPI.
run_tsan_clang() { with_clang tsan-clang tsan_clang "$@"; }
tsan_clang() {
  stage tsan-clang tsan-clang 'tests_unit tests_mpi' "-DCMAKE_CXX_COMPILER=$clang $open_mpi" -L 'unit|mpi' -LE timing "$@"
}
run_asan_clang() { with_clang asan-clang asan_clang "$@"; }
asan_clang() {
  stage asan-clang asan-clang 'tests_unit tests_corpus tests_mpi' "-DCMAKE_CXX_COMPILER=$clang $open_mpi" -L 'unit|mpi|corpus' -LE timing "$@"
}
run_tsan_mpich() { with_mpich tsan-mpich tsan_mpich "$@"; }
tsan_mpich() { stage tsan-mpich tsan-mpich tests_mpi "$mpich_options" -L mpi -LE timing "$@"; }
run_asan_mpich() { with_mpich asan-mpich asan_mpich "$@"; }
asan_mpich() { stage asan-mpich asan-mpich tests_mpi "$mpich_options" -L mpi -LE timing "$@"; }

# What no sanitizer sees: a buffer touched while MPI is to receive into it. The tests of the MPI layer, two ranks, once and not
# for a night: valgrind takes fifty times as long.
run_valgrind() {
  wrapper=$(echo /usr/lib/*/valgrind/libmpiwrap-*-linux.so) open_mpi_library=$(echo /usr/lib/*/libmpi.so.40)
  valgrind=$(command -v valgrind.bin || command -v valgrind || true) # Debian's `valgrind` is a script that hides it from mpirun
  if [ ! -f "$wrapper" ] || [ ! -f "$open_mpi_library" ] || [ -z "$valgrind" ]; then
    not_tested valgrind 'valgrind with its wrapper of Open MPI is missing (tools/setup nightly)'
    return
  fi
  prefix="-x;LD_PRELOAD=$wrapper:$open_mpi_library;-x;MPIWRAP_DEBUG=quiet;$valgrind;-q;--error-exitcode=9;--fair-sched=yes"
  prefix="$prefix;--suppressions=/usr/share/openmpi/openmpi-valgrind.supp;--suppressions=$PWD/tests/support/valgrind.supp"
  (
    export UIT_NIGHTLY=0
    stage valgrind valgrind 'harness_mpi_test uit_mpi_test ring_mpi_test accumulate_mpi_test splice_mpi_test threads_mpi_test' \
      "$open_mpi -DMPIEXEC_PREFLAGS=$prefix -DUIT_TIMEOUT_FACTOR=60" \
      -R '^(uit|ring|accumulate|splice|threads)_mpi_test x2( over MPI)?$|^harness sees: a word' "$@"
    echo "passed=$passed failed=$failed skipped=$skipped" >"$results/valgrind.counts"
  )
  # shellcheck disable=SC1091
  . "$results/valgrind.counts"
}

# clang's checker of MPI: requests that are used twice, or that nobody waits for. It knows no end of a request but MPI_Wait,
# so that of our headers, which ask MPI_Test, the latter says nothing. Demos wait by them, too.
run_mpi_checker() { with_clang mpi-checker mpi_checker; }
mpi_reports() { # mpi_reports SOURCE [OPTION…]: what the checker says against a source; all of it in $one
  # shellcheck disable=SC2086
  "$clang" --analyze --analyzer-no-default-checks --analyzer-output text -Xclang -analyzer-checker=optin.mpi.MPI-Checker \
    -std=c++20 -I. -Iinclude $flags ${CPPFLAGS:-} -DUIT_WITH_MPI=1 -DUIT_CATCH_MAJOR=2 -o /dev/null "$@" >"$one" 2>&1 ||
    echo "$1: error: cannot be analysed"
  cat "$one" >>"$log"
  grep -E ' (warning|error):' "$one" | grep -vE '^(include/|(\./)?demos/common/complete\.hpp).*has no matching wait' || true
}
mpi_checker() {
  echo '== mpi-checker'
  begin=$(date +%s) good=0 bad=0
  log=$results/mpi-checker.log one=$results/mpi_checker_one headers=$results/mpi_headers.cpp
  flags=$(mpicxx.openmpi --showme:compile 2>/dev/null || mpicxx -show | tr ' ' '\n' | grep '^-[ID]' | tr '\n' ' ')
  flags="$(echo " $flags" | sed 's/ -I/ -isystem/g') -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX"
  verdict() { # verdict SOURCE REPORTS: none is good
    if [ -z "$2" ]; then good=$((good + 1)); else bad=$((bad + 1)) && printf '%s: reported\n%s\n' "$1" "$2"; fi
  }
  # Check that it finds what is there: requests in a source, and in one that includes the headers.
  source=tests/support/mpi_checker_control.cpp
  [ "$(mpi_reports $source | grep -c 'Double nonblocking')" -eq 2 ] && unseen='' || unseen='error: the checker does not see its two faults'
  verdict $source "$unseen"
  for header in include/uit/mpi/*.hpp; do echo "#include <${header#include/}>"; done >"$headers"
  reports=$(mpi_reports "$headers" -Xclang -analyzer-opt-analyze-headers)
  grep -q '^include/uit/mpi/mpi_link.hpp:.*has no matching wait' "$one" || reports="$reports error: the checker sees no requests in uit/mpi"
  verdict include/uit/mpi "$reports"
  by_hand=$(grep -lsE '<mpi\.h>|common/exchange\.hpp' demos/*/*pp | sed 's#/[^/]*$#/main.cpp#' | sort -u | grep -v '^demos/common/')
  for source in tests/uit/mpi/*_mpi_test.cpp tests/netuit/run/*_mpi_test.cpp demos/*.cpp $by_hand; do # by_hand: demos that call MPI
    [ "$source" != tests/uit/mpi/shim_mpi_test.cpp ] || continue # which misuses MPI for the watch to see
    verdict "$source" "$(mpi_reports "$source")"
  done
  row mpi-checker "$good" "$bad" 0 $(($(date +%s) - begin))
}

# All tests, counted by clang: lines, and branches as the source has them.
run_coverage() { with_clang coverage coverage "$@"; }
coverage() {
  llvm_cov=llvm-cov${clang#clang++} profdata=llvm-profdata${clang#clang++}
  if ! have "$llvm_cov" || ! have "$profdata"; then
    not_tested coverage "$llvm_cov is missing (tools/setup nightly)"
    return
  fi
  counts=$PWD/build/coverage/counts
  rm -rf "$counts"
  export LLVM_PROFILE_FILE="$counts/%2m.profraw" # two files a program, which its processes add to
  stage coverage coverage 'tests_unit tests_mpi' "-DCMAKE_CXX_COMPILER=$clang $open_mpi" -L 'unit|mpi' -LE 'timing|hosts' "$@"
  unset LLVM_PROFILE_FILE
  code=0
  # A process that is killed while it writes spoils a file; there are others.
  # shellcheck disable=SC2046
  {
    "$profdata" merge -failure-mode=all -o "$results/coverage.profdata" "$counts"/*.profraw &&
      "${UIT_PYTHON:-python3}" tools/coverage_sum.py "$llvm_cov" "$results/coverage.profdata" include \
        $(find build/coverage -type f -perm -u+x ! -path '*/CMakeFiles/*') >"$results/coverage.txt"
  } >>"$results/coverage.log" 2>&1 || code=$?
  tail -n 1 "$results/coverage.txt" | tee -a "$results/coverage.log"
  [ "$code" -eq 0 ] || tail -n 5 "$results/coverage.log"
  row llvm-cov $((code == 0)) $((code != 0)) 0 0
  echo "coverage: by file in $results/coverage.txt"
}

# Processes die under an MPI that hears of it: Open MPI 5 from PyPI, with user-level failure mitigation.
run_ulfm() {
  if [ ! -x .deps/ulfm/bin/mpicxx ]; then
    not_tested ulfm 'Open MPI 5 is missing (tools/setup nightly)'
    return
  fi
  stage ulfm ulfm tests_survival "-DMPI_CXX_COMPILER=$PWD/.deps/ulfm/bin/mpicxx -DMPIEXEC_EXECUTABLE=$PWD/.deps/ulfm/bin/mpirun" \
    -R 'survival (killed|stopped)' "$@"
}

run_soak() {
  echo '== soak'
  begin=$(date +%s) code=0
  tools/soak --minutes 60 --output "$results/soak.csv" 2>&1 | tee "$results/soak.log" || true
  grep -q '^soak: passed' "$results/soak.log" || code=1
  row soak $((1 - code)) $code 0 $(($(date +%s) - begin))
}

# Speed, beside what is committed. Each figure that could be compared is a test, and one that could not is skipped.
run_bench() {
  echo '== bench'
  begin=$(date +%s) code=0 log=$results/bench.log
  tools/bench --check >"$log" 2>&1 || code=$?
  cat "$log"
  # shellcheck disable=SC2046
  set -- $(sed -n 's/^compared \([0-9]*\): \([0-9]*\) slower.*: \([0-9]*\) noisy, \([0-9]*\) in another class, \([0-9]*\) missing.*/\1 \2 \3 \4 \5/p' "$log")
  compared=${1:-0} bad=$((${2:-0} + ${5:-0})) left=$((${3:-0} + ${4:-0}))
  if [ "$code" -eq 3 ]; then
    not_tested bench 'could not tell whether anything is slower'
  elif [ "$code" -ne 0 ] && [ "$bad" -eq 0 ]; then
    bad=1 # it ended before it could compare
  fi
  row bench $((compared - ${2:-0})) "$bad" "$left" $(($(date +%s) - begin))
}

# How many of 300 small changes of the headers, drawn at random, the tests notice. The seed is that of the day.
run_mutants() {
  echo '== mutants'
  begin=$(date +%s) code=0
  log=$results/mutants.log
  if find_clang; then compiler=-DCMAKE_CXX_COMPILER=$clang; else compiler=''; fi # clang compiles unoptimised code the fastest
  UIT_JOBS=$jobs "${UIT_PYTHON:-python3}" tools/mutants --seed "$(date +%Y%m%d)" --configure "$compiler $open_mpi" >"$log" 2>"$results/mutants.progress" || code=$?
  grep -A1 -e SURVIVED -e 'NOT REACHED' -B1 "$log" || true
  tail -n 40 "$log"
  row mutants $((code == 0)) $((code != 0)) 0 $(($(date +%s) - begin))
}

# The tests of a commit over each MPI again and again, until one fails once.
again() { # again STAGE PRESET TARGETS CONFIGURE_ARGUMENTS CTEST_ARGUMENT…: as `stage` and each test 10 times; says so in $repeated
  (
    export UIT_NIGHTLY=0
    bad=1 total=0
    stage "$@" --repeat until-fail:10
    echo "passed=$passed failed=$failed skipped=$skipped num_failed=$bad num_run=$total" >"$results/$1.counts"
  )
  # shellcheck disable=SC1090
  . "$results/$1.counts"
  repeated="$repeated; of the $num_run of the $2 stage $num_failed failed at least once"
}
repeat_mpich() { again repeat-mpich mpich tests_each_mpi "$mpich_options $quick_build" -L mpi -LE 'ranks=1$|any_mpi' "$@"; }
run_repeat() {
  repeated='each test 10 times in a row, without sanitizers'
  again repeat release all "$open_mpi -DUIT_TREE_TESTS=ON" -LE 'tree|corpus' "$@"
  with_mpich repeat-mpich repeat_mpich "$@"
  echo "goal R18: $repeated" | tee -a "$results/repeat.log"
}
