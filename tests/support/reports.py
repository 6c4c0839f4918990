"""What is printed of programs that something is wrong with."""

# By sanitizers when they have found something, or cannot go on; each report's closing line, SUMMARY, is no other.
SANITIZER_REPORT = r"(?<!SUMMARY: )\b\w+Sanitizer\b|runtime error"
# By Open MPI, MPICH, shells and the language's library, of a process that has crashed.
CRASH_REPORT = r"Process received signal|Segmentation|terminate called|\(signal (4|6|7|8|11)\)|exited on signal (4|6|7|8|11)\b"
