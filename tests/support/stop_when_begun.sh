#!/bin/sh
# stop_when_begun.sh FILE PROGRAM ARGUMENT…: runs the program, and sends it SIGTERM one second after it has written FILE. It
# writes FILE when its work begins, however long that takes on a busy machine. Ends with the program's exit code.
file=$1
shift
rm -f "$file"
"$@" &
program=$!
until [ -e "$file" ] || ! kill -0 "$program" 2>/dev/null; do sleep 0.05; done
sleep 1
kill -TERM "$program" 2>/dev/null
wait "$program"
