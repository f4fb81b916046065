"""What a heading, a box or a bold line says at its start: `Task 3: Title`, `T-01 — Title`, `1.2 Title`.

A label is read from one line of text alone. Whether it *is* a task depends on its neighbours, which
the dialects judge.
"""

import re
from dataclasses import dataclass
from enum import Enum
from unicodedata import category

from amelia.plan import words
from amelia.plan.markdown import TICKS


class Kind(Enum):
    """What the word before the id makes of a label; `CODE` and `NUMBER` have no word."""

    TASK = "task"
    SUBTASK = "subtask"
    STEP = "step"
    STORY = "story"
    PHASE = "phase"
    MILESTONE = "milestone"
    CODE = "code"
    NUMBER = "number"


@dataclass(frozen=True, slots=True)
class Label:
    """A line of text taken apart; `separated` tells whether a mark stood between id and title."""

    kind: Kind
    id: str
    title: str
    word: str = ""
    separated: bool = True
    done: bool | None = None

    @property
    def called(self) -> str:
        """Returns the name that siblings share: `task`, another word, or the letters of ids."""
        if self.kind is Kind.TASK or self.kind is Kind.SUBTASK:
            return "task"
        return " ".join(self.word.casefold().split()) or self.id.rstrip("0123456789.-_")


# What most headings of most plans are; read at a tenth of the price.
_SIMPLE = re.compile(r"Task (\d{1,6}): ([A-Z][A-Za-z0-9 ,.'/-]*[A-Za-z0-9.])")
_LONGEST = 1000  # no title is longer, and the expressions below need not be linear
_LONGEST_ID = 100
_DONE = frozenset("✅✔☑✓")
_DECORATION = frozenset({"So", "Sk", "Mn", "Me", "Cf", "Cn", "Co"})  # emoji, joiners, variation selectors
_BOX = re.compile(r"^\[([ xX~√✓✔✅-]?)\]\s*")
_BRACKETS = re.compile(r"^\s*\[(?:[^\]\d][^\]]{0,20})\]\s*(?=\S)")
_BOLD = re.compile(r"(`[^`]*`)|\*\*")  # not the stars of `src/**/x.md`
_UNDERLINED = re.compile(r"^__([^_].*?[^_])__(?=\W|$)")
_ANCHOR = re.compile(
    r"</?(?:a|span|b|strong|em|i|del|s|u|mark|kbd|br|summary|code)\b[^>]{0,200}>|\{[#\w][\w ,=-]*\}\s*$",
    re.IGNORECASE,
)
_LINK = re.compile(r"\[([^\[\]]{1,200})\]\([^()\s]{0,500}\)")
_ITALIC = re.compile(r"^([*_])([^*_]+)\1(?=\W|$)")
_TICKED = re.compile(r"^`([^`]+)`")


_KIND_OF = {
    **dict.fromkeys(words.PHASES, Kind.PHASE),
    **dict.fromkeys(words.MILESTONES, Kind.MILESTONE),
    **dict.fromkeys(words.STORIES, Kind.STORY),
    **dict.fromkeys(words.STEPS, Kind.STEP),
    **dict.fromkeys(words.SUBTASKS, Kind.SUBTASK),
    **dict.fromkeys(words.TASKS, Kind.TASK),
}
_WORDS = words.alternatives(_KIND_OF)
_NUMBER = r"\d{1,6}(?:[.\-_]\d{1,6}){0,5}"
_NUMBERS = rf"(?:(?:{words.alternatives(words.NUMBERS)})[\s-])?(?:{words.alternatives(words.NUMBERS)})"
_NUMBER_WORDS = re.compile(_NUMBERS, re.IGNORECASE)
_CJK = "一二三四五六七八九十百〇零"
_WORD_ID = (
    rf"[A-Za-z]{{1,3}}\d{{1,4}}[-.][A-Za-z]{{1,3}}\d{{1,4}}|(?:[A-Za-z]{{1,6}}[-_.]?)?{_NUMBER}(?:\+\d{{1,4}}|[.\-]?[A-Za-z](?![A-Za-z]))?(?:[.\-]\d{{1,4}})?"
    rf"|[{_CJK}]{{1,4}}(?=[\s:：、.)）—–-]|$)|(?<=\s)Final(?=\s*[:：—–-])|(?<=[\s#(\[])(?:[IVX]{{1,5}}|[A-Za-z])(?=\s*(?:[:：.)–—-]|$))"
    rf"|(?<=\s){_NUMBERS}(?=\s*(?:[:：.)]|[–—-]\s|$))"
    r"|(?<=\s)[a-z][a-z0-9_-]{1,40}(?=:)"
)
_WORDED = re.compile(
    rf"(?P<word>{_WORDS})(?P<plural>s|en|n)?(?P<glue>[-_](?=\w)|[\s.#№\[(（]*(?:no\.|nr\.|n°|number|#)?\s*)(?P<id>{_WORD_ID})(?![A-Za-z0-9])",
    re.IGNORECASE,
)
# a task with an id in the middle of a line, or a word for task before a colon
_NAMED_INSIDE = re.compile(
    rf"(?<![\w-])(?P<word>{words.alternatives(words.TASKS)})"
    rf"(?:[\s.#№]+(?P<id>{_NUMBER}[A-Za-z]?)(?![A-Za-z0-9])(?=\s*[\])）:：–—-]|$)|(?=\s*[:：]\s*\S))",
    re.IGNORECASE,
)
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_FIRST_WORDS = frozenset(found[0] for word in _KIND_OF if (found := _FIRST_WORD.match(word)))
_LOOSE = re.compile(rf"(?P<word>{_WORDS})(?=[\s:：#№(\[]|$)", re.IGNORECASE)
_LOOSE_ID = re.compile(r"[\s#№(\[—–-]*?(?P<id>[^\s:：—–-][^\s:：]{0,39}?)?(?:\s*[:：]|\s+[—–-]+(?=\s))")
_ORDINAL = re.compile(
    rf"第\s*(?P<id>\d+|[{_CJK}]+)\s*(?P<word>个任务|項任務|项任务|任务|步|阶段|階段|部分|フェーズ|章)"
)
_CODE_ID = (
    r"(?:[A-Z][A-Za-z]{0,5}\d{0,3}[-_.])?(?:[A-Z]\d)?[A-Z]{1,8}[-_.]?\d{1,6}(?:[.\-_]\d{1,5}){0,4}[a-zA-Z]?"
)
_CODE = re.compile(rf"[\[(]?(?P<id>{_CODE_ID})[\])]?(?![A-Za-z0-9/])")
_BARE = re.compile(
    rf"[\[(#]?(?P<id>{_NUMBER}(?:-[A-Z]{{1,4}}-\d{{1,4}}|\.?[a-z](?![A-Za-z]))?)[\])]?(?=[\s:：.)\]–—、-]|$)"
)
_TOTAL = re.compile(r"\s*(?:/|of|von|de|sur|из)\s*\d{1,4}(?![\d.])", re.IGNORECASE)
_ASIDE = re.compile(r"^\s*(?:\([^()]{1,200}\)|（[^（）]{1,200}）|\[[^\[\]]{1,200}\])\s*(?=[:：–—-])")
# "Title — ✅ (in review)", "Title [DONE]", "Title (in progress)": the state is not part of the title
_STATE = re.compile(
    r"\s*(?:[—–-]+\s*(?:(?P<done>[✅✔☑✓])|[⏳🔄🚧❌⬜☐⏸📋]).*"
    r"|[\[(]\s*(?:(?P<ticked>[✅✔☑✓])|[⏳🔄🚧❌⬜☐⏸📋])[^()\[\]]*[\])]"
    r"|[\[(]\s*(?:(?P<finished>done|completed?|finished|completad[oa]|complet[oa]|concluíd[oa]|完了|已完成)"
    r"|wip|todo|pending|in progress|not started|planned|planej?ad[oa]|pendiente|pendente)\s*[\])])$",
    re.IGNORECASE,
)
_DASHES = re.compile(r"\s*[—–-]+$")
_SEPARATOR = re.compile(r"^\s*[\])）.]?\s*(?:[:：、|/]+|[—–―-]+>?|→|\.(?=\s|$)|\)(?=\s)|．|·)+\s*")
_DATE = re.compile(r"^[\[(]?(?:19|20)\d\d(?:-\d\d){0,2}\b")


def plain(text: str) -> str:
    """Strips what only decorates a line: bold, links, anchors, white space."""
    text = text[:_LONGEST]
    text = _LINK.sub(r"\1", text) if "](" in text else text
    text = _ANCHOR.sub("", text) if "<" in text or "{" in text else text
    text = _BOLD.sub(r"\1", text).replace("~~", "") if "**" in text or "~~" in text else text
    text = text if text.isascii() else text.replace("\ufe0f", "").replace("\u20e3", "")
    text = " ".join(text.split())
    for mark in (_UNDERLINED, _ITALIC) if text.startswith(("_", "*")) else ():
        if found := mark.match(text):
            text = found[found.lastindex or 0] + text[found.end() :]
    return text


def read_label(text: str) -> Label | None:
    """Reads the label at the start of a line, or returns None when there is none."""
    if simple := _SIMPLE.fullmatch(text):
        return Label(Kind.TASK, simple[1], simple[2], "Task")
    text, done = _status(plain(text))
    if ticked := _TICKED.match(text):
        text = ticked[1] + text[ticked.end() :]
    if match := _ORDINAL.match(text) or _WORDED.match(text):
        return _worded(text, match, done)
    kind = Kind.CODE
    match = _CODE.match(text)
    if match is None:
        kind = Kind.NUMBER
        match = None if _DATE.match(text) else _BARE.match(text)
    if match is None:
        return None
    title, separated, title_done = _title(text[match.end() :])
    return Label(kind, match["id"], title, "", separated, done if title_done is None else title_done)


def read_loose_label(text: str) -> Label | None:
    """Reads a label that has a word but no usual id: `Task a/b: Title`, `Task: Title`, `Task Build it`.

    `separated` tells whether a mark stands before the title. An id without one is a mention: `Task 3 Notes`.
    """
    if not _may_have_word(text):
        return None
    text, done = _status(plain(text))
    if (mention := _WORDED.match(text)) and _is_id(mention["id"]):
        kind = _KIND_OF[" ".join(mention["word"].casefold().split())]
        return Label(kind, mention["id"], text[mention.end() :].strip(), mention["word"], separated=False)
    match = _LOOSE.match(text)
    if match is None:
        return None
    kind = _KIND_OF[" ".join(match["word"].casefold().split())]
    separated = _LOOSE_ID.match(text, match.end())
    if separated is None:
        return Label(kind, "", text[match.end() :].strip(), match["word"], separated=False, done=done)
    title, _, title_done = _title(text[separated.end() :])
    identifier = clean_id((separated["id"] or "").strip("`'\"()[]#№"))
    return Label(kind, identifier, title, match["word"], done=done if title_done is None else title_done)


def find_task(text: str) -> Label | None:
    """Finds what a line calls a task behind other words: `[Task 3] Pay`, `Bonus Task: Pay`."""
    text = plain(text)
    match = _NAMED_INSIDE.search(text)
    return Label(Kind.TASK, match["id"] or "", text[match.end() :].strip(), match["word"]) if match else None


def _may_have_word(text: str) -> bool:
    """Tells quickly whether a line may start with a word such as task; most do not."""
    first = _FIRST_WORD.search(text[:_LONGEST])
    return first is not None and (not first[0].isascii() or first[0].casefold() in _FIRST_WORDS)


def clean_id(text: str) -> str:
    """Makes an id of any text: one word of what can be shown, of bearable length."""
    shown = "".join(char for char in text[:_LONGEST] if char.isprintable() or char.isspace())
    return "-".join(shown.split())[:_LONGEST_ID]


def clean_title(text: str) -> str:
    """Strips a line without a label of its decoration and status marks."""
    return _status(plain(text))[0]


def _status(text: str) -> tuple[str, bool | None]:
    """Takes boxes, ticks and emoji off both ends of a text and tells whether they say "done"."""
    done: bool | None = None
    if box := _BOX.match(text):
        text, done = text[box.end() :], box[1] in TICKS
    text, marks = _trim(text)
    if not _DONE.isdisjoint(marks):
        done = True
    if brackets := _BRACKETS.match(text):
        text = text[brackets.end() :]
    return text, done


def _trim(text: str) -> tuple[str, str]:
    """Splits a text from the emoji around it; a text of nothing else is left alone."""
    start, end = 0, len(text)
    while start < end and _is_decoration(text[start]):
        start += 1
    while end > start and _is_decoration(text[end - 1]):
        end -= 1
    if start == end:
        return text, ""
    return text[start:end], text[:start] + text[end:]


def _is_decoration(char: str) -> bool:
    return char.isspace() or (not char.isascii() and category(char) in _DECORATION)


def _worded(text: str, match: re.Match[str], done: bool | None) -> Label | None:  # noqa: FBT001
    word = match["word"]
    kind = _KIND_OF.get(" ".join(word.casefold().split()), Kind.TASK if "任" in word else Kind.PHASE)
    identifier = "-".join(match["id"].split())
    if not _is_id(identifier):
        return None
    if match.groupdict().get("glue") in {"-", "_"}:  # task-001 is an id of its own
        identifier = text[match.start("word") : match.end("id")]
    rest = text[match.end() :]
    rest = rest[total.end() :] if (total := _TOTAL.match(rest)) else rest
    title, separated, title_done = _title(rest)
    if (
        kind is Kind.PHASE
        and (inner := _WORDED.match(title))
        and _KIND_OF.get(inner["word"].casefold()) is Kind.TASK
    ):
        return _worded(title, inner, done)  # "Phase 1 / Task 2: …"
    if kind is Kind.TASK and match.groupdict().get("plural") and "-" in identifier:
        kind = Kind.PHASE  # "Tasks 1-2: …" is the heading of two tasks
    if not separated and _is_mention(title):
        return None
    return Label(kind, identifier, title, word, separated, done if title_done is None else title_done)


def _is_id(text: str) -> bool:
    """Tells `Task api:` and `Task IV:` from `Task Overview:`; the pattern ignores case, this does not."""
    if len(text) < 2 or not (text.isascii() and text.replace("-", "").replace("_", "").isalpha()):  # noqa: PLR2004
        return True
    if text.isupper() or text == "Final" or _NUMBER_WORDS.fullmatch(text):
        return True
    return text.islower() and text not in words.MENTIONS


def _title(rest: str) -> tuple[str, bool, bool | None]:
    """Splits what follows an id into the title, whether a separator stood before it, and its status."""
    rest, before = _status(rest)
    while aside := _ASIDE.match(rest):
        rest = rest[aside.end() :]
    separator = _SEPARATOR.match(rest)
    title, after = _status(rest[separator.end() :] if separator else rest)
    if state := _STATE.search(title):
        title, after = title[: state.start()], bool(state["done"] or state["ticked"] or state["finished"])
    title = _DASHES.sub("", title)
    return title.strip(), separator is not None, before if after is None else after


def _is_mention(title: str) -> bool:
    first, *others = title.split() or [""]
    if first.casefold().strip(":") not in words.MENTIONS:
        return False
    return len(others) <= 2 or first.endswith(":") or others[0] in {"—", "–", "-"}  # noqa: PLR2004 - "Context and Notes"
