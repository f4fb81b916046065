"""GSD's `PLAN.md`: `<task type="auto"><name>…</name><files>…</files><action>…</action></task>`."""

import re
from collections.abc import Sequence

from amelia.model.diagnostics import info
from amelia.model.plan import Task, TaskId
from amelia.plan import facts
from amelia.plan.labels import read_label
from amelia.plan.markdown import Document
from amelia.plan.reading import Reading

_OPEN = re.compile(r"^[ \t]*<task(?P<attributes>(?:\s[^>\n]*)?)>", re.MULTILINE)
_CLOSE = re.compile(r"^.*</task>", re.MULTILINE)
_ATTRIBUTE = re.compile(r"([\w:-]+)\s*=\s*[\"']([^\"']*)[\"']")
_ITEM = re.compile(r"^\s*[-*]\s+(.*\S)", re.MULTILINE)
_TAGS = ("name", "files", "done", "acceptance_criteria", "what-built", "depends_on", "depends")
_TAG = {tag: re.compile(rf"<{tag}>\s*(.*?)\s*</{tag}>", re.DOTALL) for tag in _TAGS}


def read(document: Document, *, hidden: Sequence[tuple[int, int]], goal: str) -> Reading | None:
    """Reads the XML tasks of a document, or returns None if it has none; `hidden` lines are code."""
    shown = list(document.lines)
    for first, last in hidden:
        shown[first - 1 : last] = ["\n"] * (last - first + 1)
    text = "".join(shown)
    tasks: list[Task] = []
    checkpoints: list[str] = []
    for opened in _OPEN.finditer(text):
        closed = _CLOSE.search(text, opened.end())
        following = _OPEN.search(text, opened.end())
        end = min(closed.end() if closed else len(text), following.start() if following else len(text))
        line = text.count("\n", 0, opened.start()) + 1
        last = document.last_text_line(
            line, line + text.count("\n", opened.start(), max(opened.start(), end - 1))
        )
        attributes = dict(_ATTRIBUTE.findall(opened["attributes"]))
        task = _task(
            text[opened.end() : end], attributes, len(tasks) + 1, (line, last, document.slice(line, last))
        )
        tasks.append(task)
        if attributes.get("type", "").startswith("checkpoint"):
            checkpoints.append(task.id)
    if not tasks:
        return None
    notes = ()
    if checkpoints:
        message = f"{len(checkpoints)} of the {len(tasks)} tasks are checkpoints for a person: {', '.join(checkpoints)}"
        notes = (
            info("human-checkpoint", message, hint="they are read as tasks; a person has to look at them"),
        )
    return Reading("gsd", tuple(tasks), goal, notes)


def _task(body: str, attributes: dict[str, str], number: int, where: tuple[int, int, str]) -> Task:
    inner = {tag: match[1] for tag, pattern in _TAG.items() if (match := pattern.search(body))}
    name = " ".join((inner.get("name") or inner.get("what-built") or attributes.get("name") or "").split())
    label = read_label(name)
    named = label is not None and label.word != ""
    create, modify, tests = facts.sort_files(
        ("files", f"`{path.strip()}`") for path in re.split(r"[,\n]", inner.get("files", ""))
    )
    criteria = _ITEM.findall(inner.get("acceptance_criteria", "")) or [" ".join(inner["done"].split())] * (
        "done" in inner
    )
    return Task(
        id=TaskId(attributes.get("id") or (label.id if label and named else str(number))),
        title=(label.title if label and named and label.title else name) or f"Task {number}",
        line=where[0],
        end_line=where[1],
        section=where[2],
        depends_on=tuple(
            map(
                TaskId,
                facts.references(
                    inner.get("depends_on") or inner.get("depends") or attributes.get("depends_on", "")
                ),
            )
        ),
        files_to_create=tuple(create),
        files_to_modify=tuple(modify),
        test_files=tuple(tests),
        acceptance_criteria=tuple(criteria),
    )
