# Read with '.' by the tools that run a module of the package netuit. Sets root.
# shellcheck shell=sh disable=SC1091
root=$(cd "$(dirname "$0")/.." && pwd)
export PYTHONPATH="$root/tools/python${PYTHONPATH:+:$PYTHONPATH}" PYTHONDONTWRITEBYTECODE=1

# take_option OPTION HELP ARGUMENT…: sets value to that of OPTION, or to ''. For --help, prints the file HELP and ends the tool.
take_option() {
  option=$1 help=$root/tools/python/netuit/$2 value='' before=''
  shift 2
  for word in "$@"; do
    case $word in
    --) break ;;
    -h | --help) cat "$help"; exit 0 ;;
    "$option"=*) value=${word#*=} ;;
    *) [ "$before" != "$option" ] || value=$word ;;
    esac
    before=$word
  done
}

has_python() { # has_python MINOR: whether python3 is Python 3.MINOR or newer
  command -v python3 >/dev/null 2>&1 && python3 -c "import sys; sys.exit(sys.version_info < (3, $1))" 2>/dev/null
}

# check_arguments MINOR MODULE ARGUMENT…: bad arguments end the tool here, before anything is fetched or built.
check_arguments() {
  has_python "$1" || return 0
  shift
  (trap '' INT && python3 -m "$@") # Python is not to show where Ctrl-C met it
}

set_up() { # set_up SET: gets what is missing, and reads where it is
  "$root/tools/setup" "$1"
  . "$root/.deps/env.sh"
}

read_settings() {
  [ ! -f "$root/.deps/env.sh" ] || . "$root/.deps/env.sh"
}

start() { # start MODULE ARGUMENT…
  trap - TERM HUP
  trap '' INT # until Python takes it up
  exec "${UIT_PYTHON:-python3}" -m "$@"
}
