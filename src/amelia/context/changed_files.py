"""The list of all files that a change touches, which stands before its text: none can be pushed out of sight.

Lock files, and what the repository itself called generated before the change, are folded: their line in the
list is all that is shown of them.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from amelia.context.quoting import one_line
from amelia.model.evidence import Change, ChangeStatus

_LOCKS = frozenset(
    """
    package-lock.json npm-shrinkwrap.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb deno.lock
    uv.lock poetry.lock pdm.lock pixi.lock Pipfile.lock conda-lock.yml pylock.toml
    Cargo.lock go.sum go.work.sum Gemfile.lock composer.lock mix.lock rebar.lock pubspec.lock Podfile.lock
    Package.resolved packages.lock.json paket.lock gradle.lockfile buildscript-gradle.lockfile
    flake.lock .terraform.lock.hcl Chart.lock stack.yaml.lock cabal.project.freeze Manifest.toml
    conan.lock cpanfile.snapshot shard.lock MODULE.bazel.lock
    """.split()
)
_LETTERS = {
    ChangeStatus.ADDED: "A",
    ChangeStatus.DELETED: "D",
    ChangeStatus.MODIFIED: "M",
    ChangeStatus.TYPE: "T",
}
_MOST_LINES = 2000
_MOST_STARS = 8
_MARK = "linguist-generated"


def why_folded(path: str, attributes: Mapping[str, str]) -> str | None:
    """Returns why nothing but the name of a file is shown; None if it is shown.

    `attributes` are the `.gitattributes` of the commit before the change, by directory: a change that calls
    its own files generated hides nothing.
    """
    if path.rpartition("/")[2] in _LOCKS:
        return "lock file"
    return "generated" if _is_called_generated(path, attributes) else None


def change_list(changes: Sequence[Change], folded: Mapping[str, str], sizes: Mapping[str, int]) -> str:
    """Returns a line for every changed file; of very many, those beyond the first by their directory.

    `sizes` are the bytes of binary files, as far as they are known.
    """
    added, deleted = (sum(counts) for counts in ([c.added for c in changes], [c.deleted for c in changes]))
    noun = "file" if len(changes) == 1 else "files"
    lines = [_line(change, folded.get(change.path), sizes) for change in changes[:_MOST_LINES]]
    rest = Counter(change.path.rpartition("/")[0] or "." for change in changes[_MOST_LINES:])
    more = [f"  and {count} more in {_name(folder)}/" for folder, count in sorted(rest.items())]
    return "\n".join([f"{len(changes)} {noun} changed, +{added} -{deleted}:", *lines, *more])


def not_shown(paths: Sequence[str]) -> str:
    """Returns which files of a change are not shown, or not to their end."""
    listed = "\n".join(f"  {_name(path)}" for path in paths[:_MOST_LINES])
    more = f"\n  and {len(paths) - _MOST_LINES} more" if len(paths) > _MOST_LINES else ""
    return f"[there is no room for all of it; read these files, not shown to their end:]\n{listed}{more}"


def _line(change: Change, fold: str | None, sizes: Mapping[str, int]) -> str:
    counts = [f"+{change.added}"] if change.added else []
    counts += [f"-{change.deleted}"] if change.deleted else []
    if change.is_binary:
        size = sizes.get(change.path)
        counts = ["binary" if size is None else f"binary, {size} bytes"]
    if change.is_submodule:
        counts = ["submodule"]
    reason = f" ({fold}, folded)" if fold else ""
    return f"  {_LETTERS[change.status]} {_name(change.path)} {' '.join(counts) or 'no lines'}{reason}"


def _name(path: str) -> str:
    """Returns a path on one line, as text that can be written."""
    return one_line(path.encode(errors="replace").decode())


def _is_called_generated(path: str, attributes: Mapping[str, str]) -> bool:
    """Says what the last line that speaks of a path says; inner directories come after outer ones."""
    names = path.split("/")[:-1]
    is_generated = False
    for folder in (".", *("/".join(names[: depth + 1]) for depth in range(len(names)))):
        inner = path if folder == "." else path.removeprefix(f"{folder}/")
        for pattern, word in _lines_about(attributes.get(folder, "")):
            if _matches(pattern, inner):
                is_generated = word in {_MARK, f"{_MARK}=true"}
    return is_generated


def _lines_about(text: str) -> Iterable[tuple[str, str]]:
    for line in text.splitlines():
        pattern, *words = line.split() or ["#"]
        if not pattern.startswith("#"):
            yield from ((pattern, word) for word in words if word.lstrip("-!").partition("=")[0] == _MARK)


def _matches(pattern: str, path: str) -> bool:
    """Says whether a pattern of `.gitattributes` fits a path below its directory.

    One with more stars than anybody needs takes too long to look at; what it is about is shown.
    """
    if pattern.count("*") > _MOST_STARS:
        return False
    if "/" not in pattern:
        return _expression(pattern).fullmatch(path.rpartition("/")[2]) is not None
    return _expression(pattern.removeprefix("/")).fullmatch(path) is not None


@lru_cache(maxsize=1000)
def _expression(pattern: str) -> re.Pattern[str]:
    known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    return re.compile("".join(known.get(part, re.escape(part)) for part in parts), re.DOTALL)
