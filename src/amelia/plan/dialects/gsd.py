"""GSD's `PLAN.md`: `<task type="auto"><name>…</name><files>…</files><action>…</action></task>`.

The tags are found by their names, since what stands between them is seldom well-formed XML.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from amelia.model.diagnostics import Diagnostic, info
from amelia.model.plan import Task, TaskId
from amelia.plan import facts
from amelia.plan.labels import clean_id, read_label
from amelia.plan.markdown import Document
from amelia.plan.reading import Reading
from amelia.plan.records import scalar

_OPEN = re.compile(r"^[ \t]*<task(?P<attributes>(?:\s[^>\n]*)?)>", re.MULTILINE)
_CLOSE = re.compile(r"</task>")
_ATTRIBUTE = re.compile(r"([\w:-]+)\s*=\s*[\"']([^\"']*)[\"']")
_LIST = re.compile(r",(?![^{}\n]*\})|\n")
_TAGS = ("name", "files", "done", "acceptance_criteria", "what-built", "depends_on", "depends")
_ATTRIBUTES = 500  # characters; nobody writes more


def read(
    document: Document, *, hidden: Sequence[tuple[int, int]], front: Mapping[str, Any]
) -> Reading | None:
    """Reads the XML tasks of a document, or returns None if it has none; `hidden` lines are code."""
    shown = list(document.lines)
    for first, last in hidden:
        shown[first - 1 : last] = ["\n"] * (last - first + 1)
    found = list(_elements("".join(shown)))
    if not found:
        return None
    tasks: list[Task] = []
    for number, (line, end_line, attributes, body) in enumerate(found, start=1):
        last = document.last_text_line(line, end_line)
        task = _task(body, attributes, number)
        tasks.append(replace(task, line=line, end_line=last, section=document.slice(line, last)))
    checkpoints = [
        task.id
        for task, (_, _, attributes, _) in zip(tasks, found, strict=True)
        if attributes.get("type", "").startswith("checkpoint")
    ]
    goal = " ".join(filter(None, (scalar(front.get("phase")), scalar(front.get("plan")))))
    return Reading("gsd", tuple(tasks), goal, _note(checkpoints, len(tasks)))


def _elements(text: str) -> Iterator[tuple[int, int, dict[str, str], str]]:
    """Yields the lines, attributes and body of every task element."""
    opened = list(_OPEN.finditer(text))
    line, counted = 1, 0
    for index, match in enumerate(opened):
        limit = opened[index + 1].start() if index + 1 < len(opened) else len(text)
        closed = _CLOSE.search(text, match.end(), limit)
        end = closed.end() if closed else limit
        line += text.count("\n", counted, match.start())
        counted = match.start()
        end_line = line + text.count("\n", match.start(), end - 1)
        yield (
            line,
            end_line,
            _attributes(match["attributes"]),
            text[match.end() : end],
        )


def _task(body: str, attributes: Mapping[str, str], number: int) -> Task:
    inner = {tag: text for tag in _TAGS if (text := _inner(body, tag)) is not None}
    name = " ".join((inner.get("name") or inner.get("what-built") or "").split())
    label = read_label(name)
    if label is not None and not label.word:  # "2 columns become 3" is a title, not task 2
        label = None
    create, modify, tests = facts.sort_files(
        ("files", f"`{path.strip()}`") for path in _LIST.split(inner.get("files", ""))
    )
    done = [" ".join(inner["done"].split())] if "done" in inner else []
    needs = inner.get("depends_on") or inner.get("depends") or attributes.get("depends_on", "")
    return Task(
        id=TaskId(clean_id(attributes.get("id", "")) or (label.id if label else str(number))),
        title=(label.title if label and label.title else name) or f"Task {number}",
        depends_on=tuple(map(TaskId, facts.references(needs))),
        files_to_create=tuple(create),
        files_to_modify=tuple(modify),
        test_files=tuple(tests),
        acceptance_criteria=tuple(_items(inner.get("acceptance_criteria", "")) or done),
    )


def _attributes(text: str) -> dict[str, str]:
    return dict(_ATTRIBUTE.findall(text[:_ATTRIBUTES]))


def _inner(body: str, tag: str) -> str | None:
    start = body.find(f"<{tag}>")
    end = body.find(f"</{tag}>", start)
    return body[start + len(tag) + 2 : end].strip() if 0 <= start < end else None


def _items(text: str) -> list[str]:
    lines = (line.strip() for line in text.splitlines())
    return [line[2:].strip() for line in lines if line.startswith(("- ", "* ")) and line[2:].strip()]


def _note(checkpoints: Sequence[str], total: int) -> tuple[Diagnostic, ...]:
    if not checkpoints:
        return ()
    listed = ", ".join(checkpoints)
    message = f"{len(checkpoints)} of the {total} tasks are checkpoints for a person: {listed}."
    return (info("human-checkpoint", message, hint="They are read as tasks; a person has to look at them."),)
