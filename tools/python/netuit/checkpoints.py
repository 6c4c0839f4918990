"""When a run saves checkpoints, and where."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from typing import Any

from netuit import InputError
from netuit.schedules import check_seconds, whole


@dataclasses.dataclass(frozen=True)
class Checkpoints:
    """For `mesh.run(..., checkpoints=netuit.Checkpoints("run.ckpt", seconds=600))`. A run always saves one at its end."""

    to: str | os.PathLike[str]  #: a folder; see Mesh.save_checkpoint
    seconds: float = 0  #: between two checkpoints; 0: does not matter
    updates: int = 0  #: between two checkpoints; 0: does not matter
    notes: Mapping[str, str] = dataclasses.field(default_factory=dict)  #: saved with each

    def __post_init__(self) -> None:
        folder(self.to)
        check_seconds("seconds", self.seconds)
        whole("updates", self.updates)
        checked_notes(self.notes)

    def words(self) -> dict[str, Any]:
        """What the extension module wants to know."""
        return {
            "checkpoint_folder": folder(self.to),
            "checkpoint_seconds": self.seconds,
            "checkpoint_updates": self.updates,
            "checkpoint_notes": dict(self.notes),
        }


def folder(path: str | os.PathLike[str]) -> str:
    """The whole path of a checkpoint, because other processes may be in another folder. Raises InputError if there is none."""
    name = os.fspath(path)
    if not isinstance(name, str) or not name:
        raise InputError(f"a checkpoint is a folder, not {path!r}")
    return os.path.abspath(name)


def checked_notes(notes: Mapping[str, str]) -> dict[str, str]:
    """The notes. Raises InputError if one is no text."""
    wrong = next((each for pair in notes.items() for each in pair if not isinstance(each, str)), None)
    if wrong is not None:
        raise InputError(f"notes of a checkpoint must be strings, not {wrong!r}")
    return dict(notes)
