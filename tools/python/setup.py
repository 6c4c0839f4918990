"""Beside pyproject.toml: writes into the installed package which checkout it came from, whose programs it runs."""

import pathlib

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildPython(build_py):
    def run(self):
        super().run()
        checkout = pathlib.Path(__file__).resolve().parents[2]
        if (checkout / "CMakeLists.txt").is_file() and not getattr(self, "editable_mode", False):
            (pathlib.Path(self.build_lib) / "netuit" / "checkout.txt").write_text(f"{checkout}\n", encoding="utf-8")


setup(cmdclass={"build_py": BuildPython})
