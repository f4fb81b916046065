"""The documents are true: their commands run and print what is shown, their plans read as they say."""

import ast
import re
import shlex
import subprocess  # noqa: TID251 - documents show commands; they are run
import sys
from pathlib import Path

import pytest

from amelia.plan.read import read_plan

REPOSITORY = Path(__file__).parents[2]
DOCUMENTS = sorted([*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md")])
CONSOLE = re.compile(r"^```console\n\$ amelia (?P<command>.+)\n(?P<output>(?:.*\n)*?)```$", re.MULTILINE)
EXAMPLE = re.compile(r"^<!-- tasks: (?P<ids>.+) -->\n```markdown\n(?P<plan>(?:.*\n)*?)```$", re.MULTILINE)
LINK = re.compile(r"\]\((?P<target>[^)#\s]+)(?:#[^)]*)?\)")
CODE_MAKERS = {"error", "warning", "info", "judge"}
EXAMPLES = [
    pytest.param(match["plan"], match["ids"].split(), id=f"{path.name}-{number}")
    for path in DOCUMENTS
    for number, match in enumerate(EXAMPLE.finditer(path.read_text(encoding="utf-8")))
]
COMMANDS = [
    pytest.param(match["command"], match["output"], id=path.name)
    for path in DOCUMENTS
    for match in CONSOLE.finditer(path.read_text(encoding="utf-8"))
]


def test_there_are_examples_and_commands() -> None:
    assert len(EXAMPLES) >= 10
    assert COMMANDS


@pytest.mark.parametrize(("command", "output"), COMMANDS)
def test_a_command_prints_what_the_document_shows(command: str, output: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "amelia", *shlex.split(command)],
        cwd=REPOSITORY,
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    assert done.stdout == output


@pytest.mark.parametrize(("plan", "ids"), EXAMPLES)
def test_an_example_plan_reads_as_the_document_says(plan: str, ids: list[str]) -> None:
    read, _ = read_plan(plan.encode())
    assert [task.id for task in read.tasks] == ids


def test_every_finding_is_documented_and_every_documented_one_exists() -> None:
    page = (REPOSITORY / "docs/reference/diagnostics.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `([a-z0-9-]+)` \|", page, re.MULTILINE))
    texts: set[str] = set()
    made: set[str] = set()
    for path in (REPOSITORY / "src/amelia").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.add(node.value)
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id in CODE_MAKERS
                and node.args
            ):
                first = node.args[0]
                made.update(
                    [first.value] if isinstance(first, ast.Constant) and isinstance(first.value, str) else []
                )
    assert made <= documented
    assert documented <= texts


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_links_between_documents_lead_somewhere(path: Path) -> None:
    for match in LINK.finditer(re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)):
        target = match["target"]
        assert "://" in target or (path.parent / target).exists(), target
