"""What a path pattern of a plan or of the settings covers.

A pattern covers the paths it matches and everything below them, so a directory needs no star. `*` and `?`
stay inside one component, `**` spans any number. Matching never backtracks further than the last `**`:
patterns come from plans, and must not be able to cost more than their length times the path's.
"""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from amelia.plan.paths import normal_path


def covers(pattern: str, path: str) -> bool:
    """Says whether a path, or a directory it lies in, is what the pattern names."""
    # A name may hold the signs of a pattern itself: `pages/[id].tsx`.
    if path == pattern:
        return True
    return _match((*normal_path(pattern).split("/"), "**"), path.split("/"))


def covered(path: str, patterns: Iterable[str]) -> bool:
    """Says whether any of the patterns covers the path."""
    return any(covers(pattern, path) for pattern in patterns)


def _match(pattern: Sequence[str], parts: Sequence[str]) -> bool:
    at = part = resume = 0
    star: int | None = None
    while part < len(parts):
        if at < len(pattern) and pattern[at] == "**":
            star, resume = at, part
            at += 1
        elif at < len(pattern) and (parts[part] == pattern[at] or fnmatchcase(parts[part], pattern[at])):
            at += 1
            part += 1
        elif star is not None:
            resume += 1
            at, part = star + 1, resume
        else:
            return False
    return all(rest == "**" for rest in pattern[at:])
