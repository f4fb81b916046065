"""What the value of a field means: a type, a priority, paths, references to other tasks, a status."""

import re
from collections.abc import Iterable, Mapping

from amelia.model.plan import Priority, TaskStatus, TaskType
from amelia.plan import words
from amelia.plan.declared import spelled_out
from amelia.plan.paths import is_test

_LONGEST = 2000  # no value is longer, and the expressions below need not be linear
_TYPES = {alias: TaskType(name) for name, aliases in words.TYPES.items() for alias in aliases.split()}
_PRIORITIES = {
    alias: Priority(name) for name, aliases in words.PRIORITIES.items() for alias in aliases.split()
}
_SHORT = 20
_WORD = re.compile(r"[^\W_]+")
_LINK = re.compile(r"\[([^\[\]\n]{1,200})\]\([^()\s]{0,500}\)")
_TICKED = re.compile(r"`([^`\n]+)`")
# What stands between spaces and commas and may be a path; braces and angle brackets hold what they like.
_TOKEN_OF_PATH = re.compile(
    r"(?:(?<!\w)[A-Za-z]:(?=[\\/])|[\w.@~+()\[\]*?/\\-]|\{[^{}\n]{1,200}\}|<[^<>\n]{1,60}>"
    r"|::|:(?=L?\d)|#(?=L\d)|\$(?=\{))+"
)
_NAMED_FILE = re.compile(r"[\w>}*\]?]\.\w{1,12}$")
_IN_FOLDER = re.compile(r"[^/\\][/\\]|^[/\\]\w")
_REMARK = re.compile(r"(?<=\w)\([^()/\\]*\)$")
_COMMA = re.compile(r",(?![^{}]*\})")  # no comma between braces
_BOLD = re.compile(r"^\*\*(?=\w)|(?<=\w)\*\*$")
_GROUP = re.compile(r"\{[^{}]*\}|<[^<>]*>")
_COMMANDS = frozenset(
    """
    bash bun cargo cat cp curl docker dotnet git go gradle make mkdir mvn mv node npm npx php pip pnpm poetry
    pytest python python3 rails rake rm rspec ruff run sh touch tox uv yarn
    """.split()
)
_ADDRESS = re.compile(r"\w+://\S+")
_ROLE = re.compile(
    r"\b(?:(?P<create>create|add|new)|(?P<modify>modify|edit|update|change|delete|remove)|(?P<test>tests?))\b",
    re.IGNORECASE,
)
_SPLIT = re.compile(
    r"\s*(?:[,;，、；&+]|\band\b|\bund\b|\bet\b|\by\b|(?<=\s)и(?=\s)|和)\s*|\s+/\s+", re.IGNORECASE
)
_ID = r"(?:[A-Za-z]{0,8}[-_.]?\d+[\w.-]*|[A-Z](?![A-Za-z]))"
_USUAL = re.compile(_ID)
_RANGE = rf"{_ID}(?:\s*(?:-|–|—|\.\.|through|thru|to|bis)\s*(?:tasks?\s+)?{_ID})?"
_CALLED = words.alternatives(words.TASKS | words.SUBTASKS | words.STEPS | words.PHASES | words.STORIES)
_NOUN = re.compile(rf"(?:{_CALLED})\s+", re.IGNORECASE)
# "Task 2 and what it made" names a task, "S3 bucket" and "Python 3.11" do not
_WORDED = re.compile(rf"[`\[(*\"'\s]*(?P<ref>(?:{_CALLED})s?[\s#:-]*{_RANGE})", re.IGNORECASE)
_BARE = re.compile(rf"[`\[(#*\"'\s]*(?P<ref>{_RANGE})[`\])*\"']*\s*(?:$|[(:—–])", re.IGNORECASE)
_NO_NEED = re.compile(
    rf"(?:{words.alternatives(word for word in words.NOTHING if word[0].isalpha())})\b\W*(?:[(:;,.—–-].*)?$"
    r"|no (?:other )?(?:dependenc|prerequisite|task|phase)",
    re.DOTALL,
)
_TOKEN = re.compile(r"[a-z][\w.-]*")
_DONE = re.compile(
    r"\b(?:done|completed?|finished|closed|merged|shipped|готово|завершено|hecho|feito|erledigt)\b|[✅✔☑]|完了|完成|완료",
    re.IGNORECASE,
)
_DROPPED = re.compile(
    r"^\W*(?:cancell?ed|deferred|skipped|rejected|dropped|obsolete|won'?t ?(?:do|fix))\b", re.IGNORECASE
)
_OPEN = re.compile(
    r"\b(?:not|in|pending|todo|open|partial\w*|incomplete|until|when|blocked)\b|未|[⏳🔄🚧🧪❌]|%",
    re.IGNORECASE,
)

Files = tuple[list[str], list[str], list[str]]


def task_type(value: str) -> TaskType | None:
    """Reads a task type, by any of the names people give it."""
    first = _WORD.search(value)
    return _TYPES.get(first[0].casefold()) if first else None


def priority(value: str) -> Priority | None:
    """Reads a priority, the most urgent one named."""
    named = {_PRIORITIES[word] for word in _WORD.findall(value.casefold()) if word in _PRIORITIES}
    return next((one for one in Priority if one in named), None)


def is_done(value: str) -> bool:
    """Tells whether a status line says that the work is finished, without a but."""
    return bool(_DONE.search(value)) and not _OPEN.search(value)


def status(value: str) -> TaskStatus | None:
    """Reads a status line as far as it decides anything: finished, or not to be done."""
    if _DROPPED.search(value):
        return TaskStatus.SKIPPED
    return TaskStatus.COMPLETED if is_done(value) else None


def paths(value: str) -> list[str]:
    """Reads the paths of a line: those in backticks, or where there are none, what looks like a path."""
    if len(value) < _SHORT and is_nothing(value):
        return []
    value = _LINK.sub(r"`\1`", value[:_LONGEST])
    if ticked := _TICKED.findall(value):
        return [path for text in ticked for path in spelled_out(text) if _is_path(path)]
    tokens = _TOKEN_OF_PATH.findall(_ADDRESS.sub("", value))
    found = (path for token in tokens for path in spelled_out(_trimmed(token)))
    return [path for path in found if _NAMED_FILE.search(path) or _IN_FOLDER.search(path)]


def sort_files(lines: Iterable[tuple[str, str]]) -> Files:
    """Sorts the paths of (role, line) pairs into created, modified and test files."""
    files: tuple[dict[str, None], ...] = ({}, {}, {})
    for role, line in lines:
        for piece_role, piece in _by_role(role, line):
            for path in paths(piece):
                where = {"create": 0, "modify": 1, "test": 2}.get(piece_role, 2 if is_test(path) else 1)
                files[where][path] = None
    create, modify, tests = map(list, files)
    return create, modify, tests


def is_nothing(value: str) -> bool:
    """Tells whether a value says that there is nothing: `none`, `n/a`, a dash."""
    return value.strip("`*[](). ").casefold() in words.NOTHING


def needs_nothing(value: str) -> bool:
    """Tells whether the value behind "depends on" says nothing: `none`, `None (can start at once)`."""
    return is_nothing(value) or _NO_NEED.match(value[:_LONGEST].strip("`*_ ").casefold()) is not None


def references(value: str, *, worded: bool = False, known: Mapping[str, str] | None = None) -> list[str]:
    """Splits what stands behind "depends on" into references to tasks; prose yields nothing.

    With `worded`, only references that call themselves a task, phase or step count. `known` are the ids that
    are no ids by their looks, by what they are case-folded.
    """
    if is_nothing(value):
        return []
    found: list[str] = []
    for piece in _SPLIT.split(value[:_LONGEST]):
        text = piece.strip(" `*[]().\"'")
        if known and (unusual := known.get("-".join(_NOUN.sub("", text.casefold(), count=1).split()))):
            found.append(unusual)
        elif match := _WORDED.match(piece) or (None if worded else _BARE.match(piece)):
            found.append(match["ref"].rstrip(".:-"))
        elif not worded and _TOKEN.fullmatch(text) and text.casefold() not in words.NOTHING:
            found.append(text)
    return found


def is_usual_id(text: str) -> bool:
    """Tells whether a task id is recognised as one wherever it stands behind "depends on"."""
    return _USUAL.fullmatch(text) is not None


def _by_role(role: str, line: str) -> list[tuple[str, str]]:
    """Cuts `create a.py, modify b.py` at its verbs; a line without verbs keeps the role it came with."""
    if role != "files":
        return [(role, line)]
    cuts = [match for match in _ROLE.finditer(line) if not _inside_path(line, match)]
    if not cuts:
        return [(role, line)]
    if paths(line[: cuts[0].start()]):  # "`a.py` (new), `b.py`": the verb stands behind its path
        return [(_role_behind(piece), piece) for piece in _COMMA.split(line)]
    ends = [match.start() for match in cuts[1:]] + [len(line)]
    return [(str(match.lastgroup), line[match.end() : end]) for match, end in zip(cuts, ends, strict=True)]


def _role_behind(piece: str) -> str:
    matches = [match for match in _ROLE.finditer(piece) if not _inside_path(piece, match)]
    return str(matches[-1].lastgroup) if matches else "files"


def _inside_path(line: str, match: re.Match[str]) -> bool:
    before = line[match.start() - 1 : match.start()]
    after = line[match.end() : match.end() + 1]
    if (before and before in "/._-`\\") or (after and after in "/._-`\\"):
        return True
    return any(group.start() < match.start() < group.end() for group in _GROUP.finditer(line))


def _trimmed(token: str) -> str:
    """Takes off what stands around a path in a sentence: brackets, stars, a full stop, a remark."""
    token = token.rstrip(".:")
    for left, right in ("()", "[]"):
        if token.startswith(left) and (token.endswith(right) or right not in token):
            token = token[1:].removesuffix(right)
        elif token.endswith(right) and left not in token:
            token = token[:-1]
    return _REMARK.sub("", _BOLD.sub("", token))


def _is_path(text: str) -> bool:
    if not text or "://" in text or "\n" in text or text.startswith(("-", "$")):
        return False
    if " " in text:
        last = text.rpartition("/")[2].replace(" ", "")
        is_command = text.split(maxsplit=1)[0] in _COMMANDS
        return "/" in text and not is_command and _NAMED_FILE.search(last) is not None
    return (
        "/" in text
        or "\\" in text
        or "." in text.strip(".")
        or text in {"Makefile", "Dockerfile", "Procfile", "LICENSE", "justfile"}
    )
