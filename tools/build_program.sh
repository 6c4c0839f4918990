# Read with '.' by the tools that build a program before they run it. Expects the variable root, and sets build.

# build_program TOOL PRESET PROGRAM: builds one program of demos/ without tests, and says so if it is not there yet.
build_program() {
  case $2 in
  simgrid) build=$root/build/simgrid ;;
  mpich) build=$root/build/demo-mpich ;;
  *) build=$root/build/demo ;;
  esac
  log=$root/build/demo.log
  mkdir -p "$root/build"
  [ -f "$build/demos/$3" ] || echo "$1: building $3" >&2
  if ! (cd "$root" && cmake --preset "$2" -B "$build" -DUIT_TESTS=OFF -DUIT_WERROR=OFF && cmake --build "$build" --target "$3") >"$log" 2>&1; then
    grep -m 5 -E 'error: |CMake Error' "$log" >&2 || tail -n 5 "$log" >&2
    echo "conduit: error: $3 does not build (all of it in $log)" >&2
    exit 1
  fi
}
