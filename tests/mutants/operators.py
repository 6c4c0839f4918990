"""The mutation operators of tools/mutants.

Finds every place in a header where an operator fits, and puts a sample of them behind switches. A candidate is a few edits of
the text. After them, uit_mutant::On(NUMBER) decides at run time between the original code and the changed code
(tests/mutants/uit_mutant.hpp). The compiler must be able to evaluate constants, so these are not changed: preprocessor lines,
static_assert, requires, concepts, if constexpr, template arguments and parameters, array sizes, enumerators, constants,
consteval functions. Code that only builds an error's text is not changed either: throw statements, streams to stderr, sums of
strings. A UIT_ASSERT is dropped as a whole or left alone.
"""

import dataclasses
import random
import re
from typing import Any, Iterator, Optional

import tree_sitter
import tree_sitter_cpp

PARSER = tree_sitter.Parser(tree_sitter.Language(tree_sitter_cpp.language()))

COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
CONNECTIVES = {"&&": "||", "||": "&&"}
SIGNS = {"+": "-", "-": "+"}
STEPS = {"+=": "-=", "-=": "+="}
INTEGERS = re.compile(r"(const\s+)?((std::)?(u?int(8|16|32|64)_t|size_t|ptrdiff_t)|int|unsigned|long|long long)")
ORDER = re.compile(r"std::memory_order_(acquire|release|acq_rel|seq_cst)")

# Nothing inside these is changed: the compiler evaluates it, or it is only part of an error's text.
LEFT_ALONE = {
    "ERROR", "alignas_qualifier", "attribute_declaration", "comment", "concept_definition", "decltype", "enumerator",
    "bitfield_clause", "fold_expression", "noexcept", "preproc_call", "preproc_def", "preproc_function_def", "preproc_include",
    "requires_clause", "requires_expression", "sizeof_expression", "static_assert_declaration", "string_literal",
    "template_argument_list", "template_parameter_list", "throw_statement", "trailing_return_type",
}
ASSERTION = re.compile(r"UIT_\w+")
STDERR = re.compile(r"\bstderr\b|\bstd::cerr\b")
# Dropping one of these changes no result, or it is not a statement of its own.
NOT_DROPPED = {"reserve", "shrink_to_fit", "static_cast"}
COMMUTATIVE = {"min", "max", "swap", "gcd", "lcm"}


@dataclasses.dataclass(frozen=True)
class Candidate:
    """A place in a file, and the change that an operator makes there."""

    file: str  # relative to include/
    line: int  # of its first character, from 1
    last_line: int  # of its last character; a sample changes each line at most once
    operator: str
    before: str
    after: str
    edits: tuple[tuple[int, int, str], ...]  # (from, to, text): byte offsets; the text may name {n}, the mutant's number

    @property
    def what(self) -> str:
        return f"{self.before} -> {self.after}"


def one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def shortened(text: str, length: int = 60) -> str:
    text = one_line(text)
    return text if len(text) <= length else text[: length - 3] + "..."


class Finder:
    """Finds the candidates of one file."""

    def __init__(self, file: str, source: bytes) -> None:
        self.file = file
        # Of the same length, because the parser knows no macros.
        self.source = re.sub(rb"\bUIT_(INLINE|NOINLINE)\b", lambda found: b" " * len(found[0]), source)
        self.found: list[Candidate] = []

    def coin(self, node: Any) -> bool:
        """Chooses one of two changes of a place. Depends only on the place's own line, not on the seed or on other lines."""
        line = self.source.splitlines()[node.start_point.row]
        indent = len(line) - len(line.lstrip())
        return random.Random(f"{line.decode().strip()} {node.start_point.column - indent}").random() >= 0.5

    def text(self, node: Any) -> str:
        return self.source[node.start_byte : node.end_byte].decode()

    def add(self, node: Any, operator: str, before: str, after: str, edits: list[tuple[int, int, str]], whole: bool) -> None:
        line = node.start_point.row + 1
        last = node.end_point.row + 1 if whole else line
        self.found.append(Candidate(self.file, line, last, operator, shortened(before), shortened(after), tuple(edits)))

    def replace(self, node: Any, operator: str, changed: str, switch: str = "uit_mutant::On({n})") -> None:
        """Returns (switch ? changed code : original code)."""
        text = self.text(node)
        if "//" in text or "#" in text:  # the copy must fit on one line
            return
        new = f"({switch} ? {escape(one_line(changed))} : "
        edits = [(node.start_byte, node.start_byte, new), (node.end_byte, node.end_byte, ")")]
        self.add(node, operator, text, changed, edits, True)

    def wrap(self, node: Any, operator: str, before: str, after: str, head: str, tail: str) -> None:
        edits = [(node.start_byte, node.start_byte, head), (node.end_byte, node.end_byte, tail)]
        self.add(node, operator, before, after, edits, False)

    def walk(self, node: Any, returns: Optional[str]) -> None:
        kind = node.type
        if kind in LEFT_ALONE:
            return
        if kind in ("declaration", "field_declaration") and self.is_constant(node):
            return
        if kind == "function_definition":
            if any(self.text(child) == "consteval" for child in node.children):
                return
            returned = node.child_by_field_name("type")
            returns = self.text(returned) if returned else None
        if kind == "lambda_expression":
            returns = None
        if kind == "call_expression" and ASSERTION.fullmatch(self.text(node.child_by_field_name("function"))):
            return
        if kind == "expression_statement" and STDERR.search(self.text(node)):
            return
        self.look_at(node, returns)
        is_constexpr = kind == "if_statement" and any(child.type == "constexpr" for child in node.children)
        for index, child in enumerate(node.children):
            field = node.field_name_for_child(index)
            if is_constexpr and field == "condition":
                continue
            if field == "size" and kind in ("array_declarator", "abstract_array_declarator"):
                continue
            if field == "value" and kind == "case_statement":
                continue
            if field == "condition" and kind.startswith("preproc"):
                continue
            self.walk(child, returns)

    def is_constant(self, node: Any) -> bool:
        """Returns whether this is a declaration that the compiler may evaluate."""
        words = {self.text(child) for child in node.children if child.type in ("type_qualifier", "storage_class_specifier")}
        if words & {"constexpr", "constinit", "consteval"}:
            return True
        values = [child.child_by_field_name("value") for child in node.children if child.type == "init_declarator"]
        values.append(node.child_by_field_name("default_value"))
        is_plain = all(value is None or value.type in ("number_literal", "true", "false", "initializer_list") for value in values)
        return bool(words & {"const", "static", "inline", "thread_local"}) and is_plain

    def look_at(self, node: Any, returns: Optional[str]) -> None:
        kind = node.type
        if kind == "binary_expression":
            self.binary(node)
        elif kind == "number_literal":
            self.literal(node)
        elif kind in ("if_statement", "while_statement", "do_statement", "for_statement", "conditional_expression"):
            self.condition(node)
        elif kind == "expression_statement":
            self.statement(node)
        elif kind == "call_expression":
            self.arguments(node)
        elif kind == "return_statement" and returns is not None:
            self.returned(node, returns)
        elif kind == "qualified_identifier" and ORDER.fullmatch(self.text(node)):
            relaxed = "std::memory_order_relaxed"
            self.replace(node, "relaxed memory order", relaxed)

    def binary(self, node: Any) -> None:
        operator = self.text(node.child_by_field_name("operator"))
        left, right = (self.text(node.child_by_field_name(side)) for side in ("left", "right"))
        if operator in COMPARISONS:
            name, changed = "swapped comparison", COMPARISONS[operator]
        elif operator in CONNECTIVES:
            name, changed = "and for or", CONNECTIVES[operator]
        elif operator in SIGNS and '"' not in left + right and "'" not in left + right:
            name, changed = "plus for minus", SIGNS[operator]
        else:
            return
        sign = node.child_by_field_name("operator")
        before = self.source[node.start_byte : sign.start_byte].decode()
        after = self.source[sign.end_byte : node.end_byte].decode()
        self.replace(node, name, f"({before}{changed}{after})")

    def literal(self, node: Any) -> None:
        text = self.text(node)
        if not re.fullmatch(r"\d+[uUlL]*", text) or node.parent.type in ("subscript_designator", "case_statement"):
            return
        by = 1 if int(re.sub(r"\D", "", text)) == 0 or self.coin(node) else -1
        after = f"{text} {'+' if by > 0 else '-'} 1"
        self.wrap(node, "off by one", text, after, "uit_mutant::Off({n}, ", f", {by})")

    def condition(self, node: Any) -> None:
        clause = node.child_by_field_name("condition")
        if clause is None or any(child.type == "constexpr" for child in node.children):
            return
        value = clause
        if clause.type == "condition_clause":
            value = clause.child_by_field_name("value")
        elif clause.type == "parenthesized_expression":
            value = clause.named_children[0] if clause.named_child_count else None
        if value is None or value.type in ("declaration", "condition_declaration", "true", "false", "comma_expression"):
            return
        text = self.text(value)
        head = "(uit_mutant::On({n}) != static_cast<bool>("
        self.wrap(value, "negated condition", text, f"!({text})", head, "))")

    def statement(self, node: Any) -> None:
        if node.named_child_count != 1:
            return
        child = node.named_children[0]
        text = self.text(node)
        if child.type == "call_expression":
            if self.name_of(child) in NOT_DROPPED:
                return
            operator = "dropped call"
        elif child.type in ("assignment_expression", "update_expression"):
            operator = "dropped assignment"
        else:
            return
        self.wrap(node, operator, text, "", "{{ if (!uit_mutant::On({n})) ", " }}")
        sign = child.child_by_field_name("operator")
        if child.type == "assignment_expression" and self.text(sign) in STEPS and '"' not in text and "'" not in text:
            changed = self.source[node.start_byte : sign.start_byte].decode() + STEPS[self.text(sign)]
            changed += self.source[sign.end_byte : node.end_byte].decode()
            if "//" not in text:
                head = f"{{{{ if (uit_mutant::On({{n}})) {escape(one_line(changed))} else "
                edits = [(node.start_byte, node.start_byte, head), (node.end_byte, node.end_byte, " }}")]
                self.add(node, "plus for minus", text, changed, edits, True)

    def name_of(self, call: Any) -> str:
        """Returns the last word of the callee: Wait for uit::detail::Wait<int>."""
        text = re.sub(r"<[^()]*>$", "", self.text(call.child_by_field_name("function")))
        return re.split(r"::|->|\.", text)[-1].strip()

    def arguments(self, node: Any) -> None:
        listed = node.child_by_field_name("arguments")
        if listed is None or listed.type != "argument_list" or self.name_of(node) in COMMUTATIVE:
            return
        simple = {"identifier", "field_expression", "call_expression", "subscript_expression", "number_literal", "qualified_identifier"}
        all_of_them = [child for child in listed.named_children if child.type != "comment"]
        for first, second in zip(all_of_them, all_of_them[1:]):
            texts = self.text(first), self.text(second)
            if not {first.type, second.type} <= simple or texts[0] == texts[1] or any(map(ORDER.match, texts)):
                continue
            if first.type == second.type == "number_literal" or '"' in texts[0] + texts[1]:
                continue
            start, end = node.start_byte, node.end_byte
            changed = self.source[start : first.start_byte].decode() + texts[1]
            changed += self.source[first.end_byte : second.start_byte].decode() + texts[0]
            changed += self.source[second.end_byte : end].decode()
            types = ", ".join(escape(one_line(f"decltype({text})")) for text in texts)
            self.replace(node, "swapped arguments", changed, f"uit_mutant::OnSame<{types}>({{n}})")

    def returned(self, node: Any, returns: str) -> None:
        values = [child for child in node.named_children if child.type != "comment"]
        if len(values) != 1 or values[0].type == "initializer_list":
            return
        value, text = values[0], self.text(values[0])
        if returns == "bool":
            constant = {"true": "false", "false": "true"}.get(text) or ("true" if self.coin(node) else "false")
        elif INTEGERS.fullmatch(one_line(returns)) and not re.fullmatch(r"0[uUlL]*", text):
            constant = "0"
        else:
            return
        self.wrap(value, "returned constant", f"return {text}", f"return {constant}",
                  f"(uit_mutant::On({{n}}) ? {constant} : (", "))")


def escape(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")


def find(file: str, source: bytes) -> list[Candidate]:
    """Returns all candidates of a file, in the order of its lines."""
    finder = Finder(file, source)
    finder.walk(PARSER.parse(finder.source).root_node, None)
    return sorted(finder.found, key=lambda candidate: (candidate.edits, candidate.operator))


class Sample:
    """Returns candidates that can be switched independently: no two share a line."""

    def __init__(self) -> None:
        self.chosen: list[Candidate] = []
        self.num_in_the_way = 0
        self.lines: set[tuple[str, int]] = set()
        self.offsets: set[tuple[str, int]] = set()

    def take(self, candidate: Candidate) -> bool:
        lines = {(candidate.file, line) for line in range(candidate.line, candidate.last_line + 1)}
        offsets = {(candidate.file, begin) for begin, _, _ in candidate.edits}
        if lines & self.lines or offsets & self.offsets:
            self.num_in_the_way += 1
            return False
        self.lines |= lines
        self.offsets |= offsets
        self.chosen.append(candidate)
        return True


def shuffled(candidates: list[Candidate], seed: int) -> Iterator[Candidate]:
    order = list(candidates)
    random.Random(seed).shuffle(order)
    return iter(order)


def apply(source: bytes, mutants: list[tuple[int, Candidate]]) -> bytes:
    """Returns the text of a file with these mutants behind their switches. Lines keep their numbers."""
    edits = [(begin, end, text.format(n=number)) for number, candidate in mutants for begin, end, text in candidate.edits]
    for begin, end, text in sorted(edits, reverse=True):
        source = source[:begin] + text.encode() + source[end:]
    return source
