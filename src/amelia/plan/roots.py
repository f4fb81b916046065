"""Phases that say in words, in their heading or below it, that they depend on nothing.

Only what leaves no doubt counts: the remark of a heading (`## Phase 3: Docs (no dependencies)`), or a
sentence that opens a paragraph or an item (`*No dependencies.*`). Libraries are called dependencies too,
so "no new dependencies" says nothing about phases, and neither does a sentence in the middle of a text.
"""

import re
from collections.abc import Iterator, Sequence

from amelia.plan import words
from amelia.plan.facts import needs_nothing

_LONGEST = 2000  # what stands further right says nothing about phases
_PHASE = words.alternatives(words.PHASES)
_CALLED = words.alternatives(words.PHASES | words.TASKS | words.STEPS | {"work", "piece"})
_NEEDS = words.alternatives(words.FIELDS["needs"].split("|"))
_NO = words.alternatives(
    {"no", "zero", "without", "keine", "ohne", "sin", "sem", "sans", "без", "нет", "无", "没有"}
)
_OTHER = "(?:other|earlier|previous|preceding|prior)"
_ANYTHING = (
    rf"(?:(?:any|every)thing(?:\s+else)?|(?:any|every|all)(?:\s+of)?(?:\s+the)?(?:\s+{_OTHER})?\s+(?:{_CALLED})s?"
    rf"|(?:any\s+|all\s+)?(?:the\s+)?(?:others|{_OTHER}\s+(?:{_CALLED})s))"
)
_SUBJECT = re.compile(rf"^(?:(?:this|the)\s+(?:{_PHASE})\s+)?(?:(?:there\s+are|has|is)\s+)?")
_FREE = re.compile(
    rf"(?:(?:{_NO})\s*(?:{_OTHER}\s+)?(?:dependenc(?:y|ies)|prerequisites?|зависимостей|{_NEEDS})(?:\s+on\s+{_ANYTHING})?"
    rf"|(?:(?:do|does)\s+not|doesn't|don't|not)\s+depend(?:ent)?\s+(?:up)?on\s+{_ANYTHING}"
    rf"|independent(?:\s+(?:of|from)\s+{_ANYTHING})?)(?!\w)"
)
# Behind that, only when the phase may begin: "no dependencies: we write our own parser" is about libraries.
_WHEN = re.compile(
    r"\W*(?:$|(?:(?:and|so|it|this|which|therefore|hence|also)\s+)*"
    r"(?:can|may|could|starts?|begins?|runs?|ready|is\s+(?:the\s+first|ready)|in\s+parallel|independent|first)\b)"
)
_DEPENDS = re.compile(rf"(?:{_NEEDS})\s*[:：]?\s*(?P<value>\S.*)")
# A need all the same: "no dependencies except Phase 1", "starts after Task 2".
_YET = re.compile(
    r"(?<!not )(?:\b(?:except|but|besides|unless|until|other\s+than|apart\s+from|requires?|needs?|after|once"
    r"|waits?\s+for|blocked\s+by|(?:depend(?:s|ent|ing)?|builds?|based|relies|rely)\s+(?:up)?on))\b"
    rf"[^.;]{{0,80}}?\b(?:{_CALLED})s?\s+#?(?:\d|[a-z]\b)"
)
_BRACKETS = re.compile(r"[(\[（]([^()\[\]（）]*)[)\]）]")
_PIECE = re.compile(r"\s+[—–|·-]+\s+|[,;，；]\s+")
_BLOCK = re.compile(r"\n[ \t]*(?=\n)|\n(?=[ \t]*(?:[-*+>#|•]|\d+[.)])[ \t])")
_SENTENCE = re.compile(r"(?<=[.!?。])[*_]*\s+")
_MARKS = " \t\r\n-+*_>•`.!"


def is_root(heading: str, called: str, below: Sequence[str]) -> bool:
    """Tells whether a phase says that it depends on nothing, and nowhere that it depends on something.

    `heading` is its title, `called` its own name, such as "Phase 3", and `below` the lines before its tasks.
    """
    opening = (text[:_LONGEST] for text in _BLOCK.split("".join(below)))
    said = [_plain(_SENTENCE.split(text.strip(), 1)[0], called) for text in opening]
    remarks = [_plain(text, called) for text in _remarks(heading)]
    if not any(map(_says_nothing, (*said, *remarks))):
        return False
    return _YET.search(_plain(f"{heading}. {''.join(below)[:_LONGEST]}", called)) is None


def _remarks(heading: str) -> Iterator[str]:
    """Yields what stands in brackets, and what is set off from the title."""
    yield from _BRACKETS.findall(heading)
    for piece in _PIECE.split(_BRACKETS.sub("", heading))[1:]:
        if piece.strip(_MARKS).casefold() != "independent":  # "small, independent parts" is a title
            yield piece


def _plain(text: str, called: str) -> str:
    return " ".join(text.casefold().replace(called.casefold(), "this phase").split()).strip(_MARKS)


def _says_nothing(text: str) -> bool:
    text = _SUBJECT.sub("", text, count=1)
    if named := _DEPENDS.match(text):
        return needs_nothing(named["value"])
    free = _FREE.match(text)
    return free is not None and _WHEN.match(text, free.end()) is not None
