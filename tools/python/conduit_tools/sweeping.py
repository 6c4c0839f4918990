"""Sweeps from Python, as tools/experiment runs them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

import pandas

from conduit_tools import InputError, ToolError, experiment
from conduit_tools.loading import load


def run_sweep(
    sweep: str | os.PathLike[str],
    *,
    quick: bool = False,
    output: str | os.PathLike[str] | None = None,
    cases: Iterable[str] | None = None,
    replicates: int | None = None,
    seconds: float | None = None,
    build: str | os.PathLike[str] | None = None,
) -> pandas.DataFrame:
    """Runs a sweep as tools/experiment does, by its name or TOML file, and gives its rows as load() does.

    Goes on where an earlier one into the same folder stopped; output is that folder, by default
    experiment-results/SWEEP. Rows of sweeps that it names by `also` are in folders below. Progress and report are printed. Raises InputError, OutputError, or ToolError if some
    launches failed; their rows are missing in the folder, the others' are there.
    """
    words = [os.fspath(sweep)] + (["--quick"] if quick else [])
    given = {
        "output": output, "cases": None if cases is None else ",".join(cases), "replicates": replicates,
        "seconds": seconds, "build": build,
    }  # fmt: skip
    for name, value in given.items():
        if value is not None:
            words += [f"--{name}", str(value)]
    options = experiment.parse(words)
    if isinstance(options, str):
        raise InputError(f"sweep {sweep}: want the name of one")
    try:
        code = experiment.run_experiment(options, sys.stdout, sys.stderr)
    except experiment.Interrupted as error:
        raise KeyboardInterrupt(str(error)) from None
    if code != 0:
        manifests = " and ".join(f"{part.output}/manifest.json" for part in options.parts)
        raise ToolError(f"sweep {options.parts[0].sweep.name}: some launches failed; {manifests} names them")
    return load(options.parts[0].output)
