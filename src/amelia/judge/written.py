"""Which of the JSON objects in an agent's last message is its answer.

A developer's report and an architect's plan are proved and approved by others: the last valid object counts.
A reviewer and an evaluator decide something. Their answer counts only if every valid object in the message
says the same, one of them is whole and stands alone, and nothing that was to be one is broken: what is quoted
from a diff approves nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar, cast

from amelia.judge.answers import Invalid
from amelia.model.agents import Written

A = TypeVar("A")


def last_valid(
    read: Callable[[Mapping[str, object] | None], A | Invalid], written: Sequence[Written]
) -> A | Invalid:
    """Returns the last of the objects that can be read; else what is wrong with the last one."""
    for each in reversed(written):
        if not isinstance(found := read(each.value), Invalid):
            return found
    return read(written[-1].value if written else None)


def only_valid(
    read: Callable[[Mapping[str, object] | None], A | Invalid],
    written: Sequence[Written],
    schema: Mapping[str, object],
    *,
    unread: Sequence[str] = (),
) -> A | Invalid:
    """Returns what the objects of a message say, if that is one thing and said by an object of its own.

    `unread` are the first names in what was to be an object and cannot be read.
    """
    read_each = [(each, read(each.value)) for each in written]
    valid = [(each, found) for each, found in read_each if not isinstance(found, Invalid)]
    if not valid:
        return read(written[-1].value if written else None)
    answers = [found for _, found in valid]
    if any(answer != answers[0] for answer in answers):
        return Invalid(f"the message holds {len(valid)} answers that differ; give one")
    if broken := [name for name in unread if name in _required(schema)]:
        return Invalid(f'the object that begins with "{broken[-1]}" is no valid JSON; give one that is')
    if not any(is_own(each, schema) for each, _ in valid):
        return Invalid(
            "the answer is not a whole JSON object on lines of its own, so that it may be a quote; "
            f"it must have {', '.join(_required(schema))}"
        )
    return answers[0]


def is_own(written: Written, schema: Mapping[str, object]) -> bool:
    """Says whether an object is meant as an answer: it stands alone and has everything that was asked for."""
    return written.stands_alone and set(_required(schema)) <= written.value.keys()


def _required(schema: Mapping[str, object]) -> list[str]:
    return cast("list[str]", schema.get("required", []))
