"""Checks README.md, PROMISES.md, CHANGELOG.md, the guide, and the pages of the demos, of binder/, of .github/ and of the Python package:

- each link leads to a file, and each heading that it names exists;
- each command `tools/…` is one of the checkout;
- each figure of binder/figures is on one of the pages.

Prints one line for each fault, and then the number of links and commands.

    check_links.py CHECKOUT
"""

import pathlib
import re
import sys

LINK = re.compile(r"\]\(([^)\s]+)\)")
COMMAND = re.compile(r"(?<![\w/.])tools/[a-z_]+(?:/[\w./]+)?")
CODE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def anchors(text: str) -> set[str]:
    """The names of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", CODE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def faults(checkout: pathlib.Path, page: pathlib.Path) -> tuple[list[str], int]:
    text = page.read_text(encoding="utf-8")
    found = []
    links = [link for link in LINK.findall(CODE.sub("", text)) if not link.startswith(("http:", "https:"))]
    for link in links:
        name, _, heading = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        if not target.exists():
            found.append(f"{page.relative_to(checkout)}: {link} leads nowhere")
        elif heading and heading not in anchors(target.read_text(encoding="utf-8")):
            found.append(f"{page.relative_to(checkout)}: {link}: no such heading")
    commands = COMMAND.findall(text)
    found += [f"{page.relative_to(checkout)}: {command} is not there" for command in commands if not (checkout / command.rstrip(".")).exists()]
    return found, len(links) + len(commands)


def main() -> int:
    checkout = pathlib.Path(sys.argv[1]).resolve()
    pages = [checkout / name for name in ("README.md", "PROMISES.md", "CHANGELOG.md", "tools/python/README.md")]
    for folder, pattern in (("tools/guide", "*.md"), ("demos", "*/README.md"), (".github", "**/*.md"), ("binder", "*.md")):
        pages += sorted((checkout / folder).glob(pattern))
    found: list[str] = []
    total = 0
    for page in pages:
        some, count = faults(checkout, page)
        found += some
        total += count
    told = "".join(page.read_text(encoding="utf-8") for page in pages)
    figures = sorted((checkout / "binder" / "figures").iterdir())
    found += [f"{path.relative_to(checkout)} is on no page, so that nothing says what to see" for path in figures if f"figures/{path.name}" not in told]
    if len(pages) < 10 or total < 50:
        found.append(f"only {len(pages)} pages and {total} links and commands were found")
    print("\n".join(found) if found else f"{total} links and commands in {len(pages)} pages")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
