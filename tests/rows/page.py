"""The table of requirements as a page: what each row asks, and the tests that carry its name.

python -m rows.page
"""

import ast
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
PAGE = ROOT / "docs" / "reference" / "requirements.md"
ROWS = Path(__file__).with_name("rows.toml")
HEAD = """\
# Requirements

Made by `scripts/requirements-table` from the tests: a test that proves a row carries it as `@pytest.mark.rows("R9")`. A row without a test is an error unless it is told as *not yet*. Rows: {total}; proved: {proved}; not yet: {open}.
"""
TestNode = ast.FunctionDef | ast.AsyncFunctionDef


class UnreadableMarkerError(Exception):
    """A marker stands where the page does not look for one, or its rows are not plain texts."""


@dataclass(frozen=True, slots=True)
class Row:
    """One requirement: its id, its text, and why it cannot be proved yet."""

    id: str
    text: str
    not_yet: str | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """Rows that belong together."""

    title: str
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Proof:
    """A test and the rows it carries."""

    file: Path
    test: str
    rows: tuple[str, ...]

    @property
    def link(self) -> str:
        """The file and the test as words, as a link from the page."""
        words = f"{self.file.stem.removeprefix('test_')}: {self.test.removeprefix('test_')}".replace("_", " ")
        return f"[{words}](../../{self.file.as_posix()})"


def read_parts(path: Path = ROWS) -> tuple[Part, ...]:
    """Returns all rows in the order of the page."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    open_rows: Mapping[str, str] = data["not_yet"]
    names = {name for part in data["part"] for name in part["rows"]}
    if unknown := open_rows.keys() - names:
        raise ValueError(f"{path}: not_yet names {', '.join(sorted(unknown))}, which is no row")
    return tuple(
        Part(
            part["title"], tuple(Row(name, text, open_rows.get(name)) for name, text in part["rows"].items())
        )
        for part in data["part"]
    )


def read_proofs(tests: Path = TESTS) -> tuple[Proof, ...]:
    """Returns all tests that carry rows, in the order of their files and lines."""
    found: list[Proof] = []
    for path in sorted(tests.rglob("test_*.py")):
        text = path.read_text(encoding="utf-8")
        if "mark.rows" in text:
            found.extend(_proofs_in(ast.parse(text), path.relative_to(tests.parent)))
    return tuple(proof for proof in found if proof.rows)


def _proofs_in(module: ast.Module, file: Path) -> Iterator[Proof]:
    understood: list[ast.Call] = []

    def rows_of(marks: Sequence[ast.expr]) -> tuple[str, ...]:
        calls = [mark for mark in marks if isinstance(mark, ast.Call) and _is_marker(mark)]
        understood.extend(calls)
        return tuple(_text_of(argument, file) for call in calls for argument in call.args)

    def proofs(body: Sequence[ast.stmt], inherited: tuple[str, ...]) -> Iterator[Proof]:
        inherited += rows_of(_module_marks(body))
        for node in body:
            if isinstance(node, ast.ClassDef):
                yield from proofs(node.body, inherited + rows_of(node.decorator_list))
            elif isinstance(node, TestNode) and node.name.startswith("test_"):
                yield Proof(file, node.name, inherited + rows_of(node.decorator_list))

    yield from proofs(module.body, ())
    everywhere = (node for node in ast.walk(module) if isinstance(node, ast.Call) and _is_marker(node))
    for call in everywhere:
        if call not in understood:
            message = f"{file}:{call.lineno}: rows are carried by a test, a class or pytestmark"
            raise UnreadableMarkerError(message)


def _is_marker(call: ast.Call) -> bool:
    return ast.unparse(call.func) in {"pytest.mark.rows", "mark.rows"}


def _text_of(argument: ast.expr, file: Path) -> str:
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
        return argument.value
    message = f"{file}:{argument.lineno}: the id of a row is a plain text, not {ast.unparse(argument)}"
    raise UnreadableMarkerError(message)


def _module_marks(body: Sequence[ast.stmt]) -> list[ast.expr]:
    """Returns the marks in `pytestmark` of a module or a class."""
    for node in body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == [
            "pytestmark"
        ]:
            return node.value.elts if isinstance(node.value, ast.List | ast.Tuple) else [node.value]
    return []


def page(parts: Sequence[Part], proofs: Sequence[Proof]) -> str:
    """Returns the page."""
    rows = [row for part in parts for row in part.rows]
    carried = {name for proof in proofs for name in proof.rows}
    proved = sum(row.id in carried and row.not_yet is None for row in rows)
    head = HEAD.format(total=len(rows), proved=proved, open=sum(row.not_yet is not None for row in rows))
    return "\n".join([head, *(line for part in parts for line in _table(part, proofs))])


def _table(part: Part, proofs: Sequence[Proof]) -> Iterator[str]:
    yield from (f"## {part.title}", "", "| row | what it asks | tests that prove it |", "|---|---|---|")
    for row in part.rows:
        links = [proof.link for proof in proofs if row.id in proof.rows]
        cell = "<br>".join([f"*Not yet.* {row.not_yet}", *links] if row.not_yet else links)
        yield f"| {row.id} | {row.text} | {cell} |"
    yield ""


def main() -> None:
    """Writes the page."""
    PAGE.write_text(page(read_parts(), read_proofs()), encoding="utf-8")


if __name__ == "__main__":
    main()
