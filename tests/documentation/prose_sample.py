"""Prints random comments and error messages with file and line, to judge how they read: prose_sample.py --seed 1

A comment is a block of comment lines, a comment at the end of a line, or a docstring. A message is a statement that throws, fails or
asserts with a text. The files are those of include/, demos/ and tools/ that Git knows. The same seed gives the same sample.
"""

from __future__ import annotations

import argparse
import ast
import io
import pathlib
import random
import re
import subprocess
import tokenize
from collections.abc import Iterator

ROOT = pathlib.Path(__file__).resolve().parents[2]
Found = tuple[int, str]  #: line and text
FEWEST_WORDS = 5  #: of a comment

CPP_COMMENT = re.compile(r"^((?:[^\"\n]|\"(?:\\.|[^\"\\\n])*\")*?)//+<? ?(.*)$", re.MULTILINE)
CPP_MESSAGE = re.compile(r"\b(?:throw\b|Fail\w*\(|Refuse\w*\(|Warn\w*\(|Want\(|UIT_ASSERT\w*\()(?:\"(?:\\.|[^\"\\])*\"|[^;\"])*;")
LITERAL = re.compile(r"\"((?:\\.|[^\"\\]){8,})\"")


def line_of(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def blocks(lines: list[tuple[int, bool, str]]) -> Iterator[Found]:
    """Joins comments that fill whole lines one after another; each has its line, whether it fills the line, and its text."""
    first, last, words = 0, -1, ""
    for number, is_whole, text in lines:
        if is_whole and number == last + 1:
            last, words = number, f"{words} {text}"
            continue
        yield first, words
        first, last, words = number, number if is_whole else -1, text
    yield first, words


def cpp_comments(text: str) -> Iterator[Found]:
    yield from blocks([(line_of(text, m.start(2)), not m[1].strip(), m[2].strip()) for m in CPP_COMMENT.finditer(text)])


def cpp_messages(text: str) -> Iterator[Found]:
    for match in CPP_MESSAGE.finditer(text):
        if LITERAL.search(match[0]):
            yield line_of(text, match.start()), match[0]


def python_comments(text: str) -> Iterator[Found]:
    tokens = [token for token in tokenize.generate_tokens(io.StringIO(text).readline) if token.type == tokenize.COMMENT]
    yield from blocks([(token.start[0], not token.line[: token.start[1]].strip(), token.string.lstrip("#: ")) for token in tokens])
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and (words := ast.get_docstring(node)):
            yield node.body[0].lineno, words


def python_messages(text: str) -> Iterator[Found]:
    for node in ast.walk(ast.parse(text)):
        is_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("error", "exit")
        if isinstance(node, (ast.Call, ast.Raise)) and (is_call or isinstance(node, ast.Raise)):
            words = ast.get_source_segment(text, node) or ""
            if LITERAL.search(words):
                yield node.lineno, words


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--comments", type=int, default=20, metavar="N")
    parser.add_argument("--messages", type=int, default=10, metavar="N")
    options = parser.parse_args()
    listed = subprocess.run(["git", "ls-files", "include", "demos", "tools"], cwd=ROOT, capture_output=True, text=True, check=True)
    comments: list[str] = []
    messages: list[str] = []
    for name in sorted(listed.stdout.splitlines()):
        kind = pathlib.Path(name).suffix
        if kind not in ("", ".py", ".hpp", ".ipp", ".cpp") or not (ROOT / name).is_file():
            continue
        text = (ROOT / name).read_text(encoding="utf-8")
        is_python = kind == ".py" or re.match(r"#!.*python", text) is not None
        if not is_python and not kind:
            continue
        for kept, found in (
            (comments, python_comments(text) if is_python else cpp_comments(text)),
            (messages, python_messages(text) if is_python else cpp_messages(text)),
        ):
            whole = ((line, " ".join(words.split())) for line, words in found)
            kept += [f"{name}:{line}: {words}" for line, words in whole if kept is messages or len(words.split()) >= FEWEST_WORDS]
    dice = random.Random(options.seed)
    for title, kept, number in (("comments", comments, options.comments), ("messages", messages, options.messages)):
        print(f"{min(number, len(kept))} of {len(kept)} {title}\n")
        for each in dice.sample(kept, min(number, len(kept))):
            print(each, end="\n\n")


if __name__ == "__main__":
    main()
