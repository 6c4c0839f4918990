"""What sanitizers print when they have found something, or cannot go on; each report's closing line, SUMMARY, is no other."""

SANITIZER_REPORT = r"(?<!SUMMARY: )\b\w+Sanitizer\b|runtime error"
