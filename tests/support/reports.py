"""Lines that appear in the output of programs with errors."""

# Lines of sanitizers that have found an error or cannot continue. The closing line of a report, SUMMARY, is not a report of
# its own.
SANITIZER_REPORT = r"(?<!SUMMARY: )\b\w+Sanitizer\b|runtime error"
# Lines of Open MPI, MPICH and the C++ library about a process that crashed. MPICH's signal number cannot be used: it adds up
# the signals of all processes, so 2 and 9 become a segmentation fault.
CRASH_REPORT = r"Process received signal|terminate called|exited on signal (4|6|7|8|11)\b|EXIT CODE: (6|7|8|11|13[4569])\b"
