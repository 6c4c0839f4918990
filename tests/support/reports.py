"""What is printed of programs that something is wrong with."""

# By sanitizers when they have found something, or cannot go on; each report's closing line, SUMMARY, is no other.
SANITIZER_REPORT = r"(?<!SUMMARY: )\b\w+Sanitizer\b|runtime error"
# By Open MPI, MPICH and the language's library, of a process that has crashed. MPICH's words on the signal are no help: it adds up
# all processes' signals, so that 2 and 9 are a segmentation fault.
CRASH_REPORT = r"Process received signal|terminate called|exited on signal (4|6|7|8|11)\b|EXIT CODE: (6|7|8|11|13[4569])\b"
