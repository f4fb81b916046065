"""How hard a task is: the complexity score, its dominant part, and the soft limits.

The score is the sum of five parts, each capped (document 004):

    file_scope               0.5 for each distinct file, at most 5
    cross_file_deps          0 within one directory; else the greater of 0.5 for each further directory and
                             1.0 for two layers or 2.0 for three (data, business, presentation); at most 2
    semantic_complexity      0.5 for each distinct hard subject named (`_SUBJECTS`), at most 3
    requirement_uncertainty  0.5 for each distinct vague word (`_VAGUE`), and 0.5 for files without
                             acceptance criteria; at most 2
    token_penalty            how far the estimated input exceeds `max_input_tokens`, 1.0 at twice the budget

Words count whole and once: `caching` and `cache` are one subject, `handler` is not `handle`. The text scored
is title, user story, criteria and the section outside code fences.
"""

import re
from enum import StrEnum
from operator import gt

from amelia.model.diagnostics import Diagnostic, warning
from amelia.model.plan import Complexity, Task
from amelia.model.settings import SizeLimits
from amelia.plan.paths import layer_of, normal_path

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})(.*)$", re.MULTILINE)
_LOWER_LETTERS = bytes(
    ord(c.lower()) if (c := chr(code)).isascii() and c.isalpha() else 32 for code in range(256)
)
_TOKEN_CHARS = 4
_FILE_TOKENS = 400
_POINT = 0.5
_THREE_LAYERS = 3

# One line is one subject, however it is spelled.
_SUBJECTS = """
algorithm algorithms algorithmic
async asynchronous asyncio await
concurrency concurrent concurrently
parallel parallelism parallelise parallelize
thread threads threading multithreaded
lock locks locking mutex deadlock deadlocks
race
migration migrations migrate migrating
security secure
authentication authenticate authenticated oauth sso
authorization authorisation authorize authorise permissions
encryption encrypt encrypted cryptography cryptographic
distributed
transaction transactions transactional
consistency idempotent idempotency
cache caching cached caches
realtime streaming websocket websockets
performance latency throughput
optimise optimize optimised optimized optimisation optimization
integration integrations integrate
refactor refactoring refactored
protocol protocols
parser parsers parsing
compiler interpreter
scheduler scheduling
recursive recursion
serialization serialisation serialize serialise
synchronisation synchronization synchronise synchronize
"""
_SUBJECT_OF = {word: line.split()[0] for line in _SUBJECTS.strip().splitlines() for word in line.split()}
_SUBJECT_PHRASES = (" real time ",)

_VAGUE_WORDS = """
appropriate appropriately better etc flexible handle improve improved maybe nice perhaps possibly probably
reasonable robust roughly sensible several somehow something suitable tbd unclear various whatever
"""
_VAGUE = frozenset(_VAGUE_WORDS.split())
_VAGUE_PHRASES = (
    " as needed ",
    " if needed ",
    " as necessary ",
    " where possible ",
    " and so on ",
    " to be decided ",
)
_PHRASE_ENDS = frozenset(phrase.split()[-1] for phrase in (*_SUBJECT_PHRASES, *_VAGUE_PHRASES))
_KNOWN = _VAGUE.union(_SUBJECT_OF, _PHRASE_ENDS)


_LIMITS = (
    ("many-files-to-create", "creates {value} files"),
    ("many-files-to-modify", "modifies {value} files"),
    ("many-criteria", "has {value} acceptance criteria"),
    ("many-tokens", "needs about {value} tokens of input"),
    ("long-time", "takes about {value:.3g} minutes"),
    ("high-complexity", "scores {value:.4g} ({level}: {action})"),
)


class Strategy(StrEnum):
    """How a task is split: by directory, by architectural layer, or by acceptance criteria."""

    FILES = "files"
    LAYERS = "layers"
    CRITERIA = "criteria"


def score(task: Task, limits: SizeLimits) -> Complexity:
    """Returns the complexity of a task as the author wrote it."""
    text = " ".join((task.title, task.user_story, *task.acceptance_criteria, _outside_fences(task.section)))
    unclear = not task.acceptance_criteria and bool(task.files_to_create or task.files_to_modify)
    return _score(task, limits, text=text, unclear=unclear)


def score_piece(piece: Task, limits: SizeLimits) -> Complexity:
    """Returns the complexity of a piece of a split task.

    A piece answers for the title and story, and for its own files and criteria. The rest of the section
    describes the whole task: it is read, so its tokens count, but its words do not.
    """
    text = " ".join((piece.title, piece.user_story, *piece.acceptance_criteria))
    return _score(piece, limits, text=text, unclear=False)


def dominant(complexity: Complexity) -> Strategy:
    """Returns the strategy for the part that is nearest to its maximum; on a tie, the first of the table."""
    shares = (
        (complexity.cross_file_deps / 2, Strategy.LAYERS),
        (complexity.file_scope / 5, Strategy.FILES),
        (complexity.semantic_complexity / 3, Strategy.CRITERIA),
        (complexity.requirement_uncertainty / 2, Strategy.CRITERIA),
        (complexity.token_penalty, Strategy.FILES),
    )
    return max(shares, key=lambda share: share[0])[1]


def estimate_tokens(task: Task) -> int:
    """Returns roughly how many tokens an agent reads for a task: its section, and its files."""
    return len(task.section) // _TOKEN_CHARS + _FILE_TOKENS * len(task.files)


def estimate_minutes(task: Task) -> float:
    """Returns roughly how long a task takes: a minute, and more for files, criteria and hard subjects."""
    hard = task.complexity.semantic_complexity + task.complexity.requirement_uncertainty
    return 1 + 0.5 * len(task.files) + 0.25 * len(task.acceptance_criteria) + 0.5 * hard


def soft_limits(task: Task, limits: SizeLimits) -> list[Diagnostic]:
    """Returns a warning for every soft limit that a scored task exceeds."""
    values = (
        len(task.files_to_create),
        len(task.files_to_modify),
        len(task.acceptance_criteria),
        estimate_tokens(task),
        estimate_minutes(task),
        task.complexity.total,
    )
    allowed = (
        limits.max_files_to_create,
        limits.max_files_to_modify,
        limits.max_acceptance_criteria,
        limits.max_input_tokens,
        limits.max_time_minutes,
        limits.complexity_threshold,
    )
    if not any(map(gt, values, allowed)):
        return []
    level = task.complexity.level
    return [
        warning(
            code,
            f"Task '{task.id}' {what.format(value=value, level=level.upper(), action=level.action)}; "
            f"the limit is {limit:g}.",
            line=task.line,
            hint="Divide it into smaller tasks, or raise the limit in the settings.",
        )
        for (code, what), value, limit in zip(_LIMITS, values, allowed, strict=True)
        if value > limit
    ]


def _score(task: Task, limits: SizeLimits, *, text: str, unclear: bool) -> Complexity:
    found = _words(text)
    known = _KNOWN.intersection(found)
    subjects = {_SUBJECT_OF[word] for word in known if word in _SUBJECT_OF}
    vague = _VAGUE & known
    if not _PHRASE_ENDS.isdisjoint(known):
        running = f" {' '.join(found)} "
        subjects.update(phrase for phrase in _SUBJECT_PHRASES if phrase in running)
        vague = vague.union(phrase for phrase in _VAGUE_PHRASES if phrase in running)
    paths = task.files
    excess = estimate_tokens(task) / max(1, limits.max_input_tokens) - 1
    files = set(map(normal_path, paths))
    return Complexity(
        file_scope=min(5.0, _POINT * len(files)),
        cross_file_deps=_coupling(files),
        semantic_complexity=min(3.0, _POINT * len(subjects)),
        requirement_uncertainty=min(2.0, _POINT * (len(vague) + unclear)),
        token_penalty=round(min(1.0, excess), 2) if excess > 0 else 0.0,
    )


def _coupling(files: set[str]) -> float:
    """Grades how far files in their normal spelling lie apart, by directories and by layers."""
    further = len({path.rpartition("/")[0] for path in files}) - 1
    by_folders = min(2.0, _POINT * further)
    if not 0 < by_folders < 2.0:  # noqa: PLR2004 - layers add nothing to either
        return max(0.0, by_folders)
    layers = len({layer_of(path) for path in files} - {None})
    return max(by_folders, 2.0 if layers >= _THREE_LAYERS else float(layers - 1))


def _words(text: str) -> list[str]:
    # Measured on 500 bytes: a third of the time of any expression. A letter beyond ASCII divides a word,
    # which is none of ours anyway.
    return text.encode("ascii", "replace").translate(_LOWER_LETTERS).decode().split()


def _outside_fences(section: str) -> str:
    """Drops fenced code, to the end of the section where a fence is never closed."""
    if "```" not in section and "~~~" not in section:
        return section
    kept: list[str] = []
    start, fence = 0, ""
    for mark in _FENCE.finditer(section):
        if not fence:
            kept.append(section[start : mark.start()])
            fence = mark[1]
        elif mark[1].startswith(fence) and not mark[2].strip():
            start, fence = mark.end(), ""
    if not fence:
        kept.append(section[start:])
    return "".join(kept)
