"""Prints what the cases of a test have shown."""

from __future__ import annotations

import concurrent.futures


def report(futures: dict[str, concurrent.futures.Future[tuple[str, list[str]]]]) -> int:
    """Waits for each case, by name, and prints what was seen and its faults. Returns the exit code: 1 if any has a fault."""
    any_failed = False
    for name, future in futures.items():
        seen, faults = future.result()
        any_failed = any_failed or bool(faults)
        print(f"{'FAILED' if faults else 'ok    '} {name}: {seen}", *faults, sep="\n       ", flush=True)
    return 1 if any_failed else 0
