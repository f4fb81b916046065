"""The vocabulary of git: one typed function for each command, plumbing wherever there is some.

Output is read in its NUL-separated form only, and flags that the user's configuration could change are given.
"""

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile

from amelia.model.errors import GitError
from amelia.model.git import CommitId, Conflict, Merged, Merging, Stamp, TreeId, Treeish
from amelia.system.git import Answer, Call, Repository, run_git
from amelia.system.git_places import ConfigEntry

_ANY = Call(accept=None)
_NOTHING: Mapping[str, CommitId] = {}
_UNPACK_LIMIT = 100  # as git's own `fetch.unpackLimit`: many objects stay one file
_YES_OR_NO = Call(accept=(0, 1))
_DIFF = (
    # Plumbing, so most settings do not reach it; what would run a command or hide a change is ruled out.
    *("diff-tree", "-r", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color"),
    "--ignore-submodules=none",
)


def rev_parse(where: Repository | Path, *questions: str) -> Answer:
    """Asks about a repository itself; hooks are part of what is asked for."""
    return run_git(where, "rev-parse", *questions, call=Call(accept=None, with_hooks=True))


def find_commit(where: Repository, revision: str) -> CommitId | None:
    """Returns the commit that a revision names, if it names one."""
    name = f"{revision}^{{commit}}"
    answer = run_git(where, "rev-parse", "--verify", "--quiet", "--end-of-options", name, call=_ANY)
    return CommitId(answer.text) if answer.code == 0 else None


def tree_of(where: Repository, treeish: Treeish) -> TreeId:
    """Returns the tree of a commit."""
    return TreeId(run_git(where, "rev-parse", "--verify", f"{treeish}^{{tree}}").text)


def head_branch(where: Repository) -> str | None:
    """Returns the branch that is checked out, or nothing when HEAD is detached."""
    answer = run_git(where, "symbolic-ref", "--quiet", "--short", "HEAD", call=_YES_OR_NO)
    return answer.text if answer.code == 0 else None


def list_config(where: Repository) -> tuple[ConfigEntry, ...]:
    """Returns every value that files set for a repository, in git's order, includes expanded."""
    fields = run_git(where, "config", "--list", "--show-scope", "--includes", "-z").fields
    entries: list[ConfigEntry] = []
    for scope, pair in zip(fields[::2], fields[1::2], strict=True):
        key, separator, value = pair.partition("\n")
        if scope != "command":  # our own
            entries.append(ConfigEntry(scope, key, value if separator else None))
    return tuple(entries)


def blob_config(where: Repository, blob: str) -> tuple[tuple[str, str], ...]:
    """Returns keys and values of a stored configuration file; nothing if it is missing or broken."""
    answer = run_git(where, "config", "--blob", blob, "--list", "-z", call=_ANY)
    pairs = (field.partition("\n") for field in answer.fields) if answer.code == 0 else ()
    return tuple((key, value) for key, _, value in pairs)


def init_bare(git_dir: Path, *, object_format: str) -> None:
    """Makes an empty bare repository without any template."""
    flags = ("--bare", "--quiet", "--template=", f"--object-format={object_format}")
    run_git(git_dir.parent, "init", *flags, str(git_dir))


def init(directory: Path) -> Repository:
    """Makes a directory a repository without any template, with a branch called main."""
    run_git(directory, "init", "--quiet", "--template=", "--initial-branch=main")
    return Repository(directory / ".git", work_tree=directory)


def configure(where: Repository, key: str, value: str) -> None:
    """Sets a value in a repository's own configuration."""
    run_git(where, "config", "--local", key, value)


def read_tree(where: Repository, tree: Treeish) -> Answer:
    """Makes the tracked files of a worktree those of a tree, whatever they were."""
    return run_git(where, "read-tree", "--reset", "-u", tree, call=_ANY)


def clean(where: Repository, *, keeps_ignored: bool) -> Answer:
    """Removes untracked files, nested repositories too, and says what was removed."""
    return run_git(where, "clean", "-ffd" if keeps_ignored else "-ffdx", call=_ANY)


def add_all(where: Repository, *, without: Iterable[str] = ()) -> Answer:
    """Takes every file that is not ignored into the index, as far as possible, but in some places."""
    flags = ("add", "--all", "--ignore-errors")
    if not (out := [f":(top,exclude,literal){path}" for path in without]):
        return run_git(where, *flags, call=_ANY)
    names = os.fsencode("\0".join([":(top)", *out]))
    more = ("--pathspec-from-file=-", "--pathspec-file-nul")
    return run_git(where, *flags, *more, call=Call(accept=None, stdin=names))


def untracked(where: Repository, *more: str) -> list[str]:
    """Returns the files that are neither tracked nor ignored, and with `more` flags others beside them."""
    return run_git(where, "ls-files", "-z", "--others", "--exclude-standard", *more).fields


def managed_paths(where: Repository) -> list[str]:
    """Returns the files that are tracked, and those that are not and not ignored either."""
    return untracked(where, "--cached")


def unignored(where: Repository, *, excludes: Iterable[Path]) -> list[str]:
    """Returns what is untracked and not ignored by `.gitignore` files and some others; directories as one."""
    flags = ("-z", "--others", "--directory", "--no-empty-directory", "--exclude-per-directory=.gitignore")
    return run_git(where, "ls-files", *flags, *(f"--exclude-from={file}" for file in excludes)).fields


def staged_paths(where: Repository) -> list[str]:
    """Returns the paths whose entry in the index is not that of HEAD."""
    flags = ("--cached", "--name-only", "-z", "--no-renames", "--ignore-submodules=none")
    return run_git(where, "diff-index", *flags, "HEAD").fields


def new_gitlinks(where: Repository, base: Treeish) -> list[str]:
    """Returns the paths that are submodules in the index but not in the base."""
    flags = ("--cached", "--raw", "-z", "--no-renames", "--ignore-submodules=none")
    fields = run_git(where, "diff-index", *flags, base).fields
    records = zip(fields[::2], fields[1::2], strict=True)
    return [path for raw, path in records if raw.split()[1] == "160000" and raw.split()[0] != ":160000"]


def gitlinks(where: Repository) -> dict[str, CommitId]:
    """Returns the submodules in the index with the commits they are at."""
    entries = (field.partition("\t") for field in run_git(where, "ls-files", "--stage", "-z").fields)
    return {path: CommitId(entry.split()[1]) for entry, _, path in entries if entry.startswith("160000")}


def forget(where: Repository, paths: Iterable[str]) -> None:
    """Takes paths out of the index and leaves the files."""
    names = os.fsencode("".join(f"{path}\0" for path in paths))
    run_git(where, "update-index", "--force-remove", "-z", "--stdin", call=Call(stdin=names))


def has_changes(where: Repository) -> bool:
    """Says whether a repository holds anything that its HEAD does not."""
    return bool(run_git(where, "status", "--porcelain", "--ignore-submodules=all").out)


def write_tree(where: Repository) -> TreeId:
    """Stores the index as a tree."""
    return TreeId(run_git(where, "write-tree").text)


def load_index(where: Repository, tree: Treeish) -> None:
    """Makes the index that of a tree, and touches no file."""
    run_git(where, "read-tree", tree)


def store_files(where: Repository, paths: Iterable[str]) -> list[str]:
    """Stores files of the worktree as they are, and returns their ids in the same order."""
    names = os.fsencode("".join(f"{path}\n" for path in paths))
    flags = ("-w", "--no-filters", "--stdin-paths")
    return run_git(where, "hash-object", *flags, call=Call(stdin=names)).text.split()


def store_text(where: Repository, text: str) -> str:
    """Stores a text as a file, and returns its id."""
    call = Call(stdin=text.encode("utf-8", "surrogateescape"))
    return run_git(where, "hash-object", "-w", "--stdin", "--no-filters", call=call).text


def stage_entries(where: Repository, entries: Mapping[str, str], *, digits: int = 40) -> None:
    """Puts entries of a mode and an id into the index, each under its path; an empty one takes it out.

    `digits` is the length of ids in the repository.
    """
    gone = f"0 {'0' * digits}"
    # A file cannot be put where a directory still is.
    ordered = sorted(entries.items(), key=lambda entry: bool(entry[1]))
    lines = os.fsencode("".join(f"{entry or gone}\t{path}\0" for path, entry in ordered))
    run_git(where, "update-index", "-z", "--replace", "--index-info", call=Call(stdin=lines))


def kinds_at(where: Repository, tree: Treeish, paths: Iterable[str]) -> dict[str, str]:
    """Returns which of some paths a tree has, and what is there: a tree, a blob or a commit."""
    wanted = set(paths)
    # Git lists what is beside a path, too, if it is told of a directory above it as well.
    fields = run_git(where, "ls-tree", "-z", "-t", "--full-tree", tree, "--", *wanted).fields
    entries = (field.partition("\t") for field in fields)
    return {path: entry.split()[1] for entry, _, path in entries if path in wanted}


def names_in(where: Repository, tree: Treeish, directory: str) -> set[str]:
    """Returns the names of what is directly in a directory of a tree."""
    fields = run_git(where, "ls-tree", "-z", "--name-only", "--full-tree", tree, "--", f"{directory}/").fields
    return {path.rpartition("/")[2] for path in fields}


def empty_tree(where: Repository) -> TreeId:
    """Stores the tree without files."""
    return TreeId(run_git(where, "mktree").text)


def commit_tree(
    where: Repository,
    tree: TreeId,
    *,
    parents: Iterable[CommitId],
    message: str,
    stamp: Stamp,
    is_signed: bool = False,
) -> CommitId:
    """Stores a commit; the same arguments give the same commit, unless it is signed."""
    flags = [part for parent in parents for part in ("-p", parent)]
    call = Call(stdin=os.fsencode(message), environment=_signature(stamp), is_guarded=is_signed)
    return CommitId(
        run_git(where, "commit-tree", *(["-S"] if is_signed else []), *flags, tree, call=call).text
    )


def run_hook(where: Repository, hook: str, *arguments: str, call: Call) -> Answer:
    """Runs a hook of the repository in the worktree."""
    call = replace(call, accept=None, with_hooks=True, is_guarded=True)
    return run_git(where, "hook", "run", "--ignore-missing", hook, "--", *arguments, call=call)


def raw_changes(where: Repository, base: Treeish, tree: Treeish) -> list[str]:
    """Returns the fields of git's raw difference, followed by those of the numbers of lines."""
    return run_git(where, *_DIFF, "-z", "--raw", "--numstat", base, tree).fields


def changed_paths(where: Repository, base: Treeish, tree: Treeish) -> list[tuple[str, str]]:
    """Returns git's letter for what happened, and the path, of every file that differs."""
    fields = run_git(where, *_DIFF, "-z", "--name-status", base, tree).fields
    return list(zip(fields[::2], fields[1::2], strict=True))


def changed_by(where: Repository, commits: Iterable[CommitId]) -> dict[str, tuple[str, ...]]:
    """Returns the files that differ between each commit and its parent, for those commits that are there."""
    wanted = "".join(f"{commit}\n" for commit in commits).encode()
    flags = ("-z", "--name-status", "--always", "--stdin")
    found: dict[str, list[str]] = {}
    paths: list[str] = []
    fields = iter(run_git(where, *_DIFF, *flags, call=Call(stdin=wanted, accept=None)).fields)
    for field in fields:
        if len(field) > 1:  # not git's letter for what happened to a file, but the next commit
            paths = found.setdefault(field, [])
        else:
            paths.append(next(fields))
    return {commit: tuple(files) for commit, files in found.items()}


def diff_text(
    where: Repository, base: Treeish, tree: Treeish, *, limit: int, paths: Iterable[str] = ()
) -> bytes:
    """Returns the beginning of the difference as a patch, of some paths (which may be patterns) or of all."""
    flags = ("-p", "-U3", "--inter-hunk-context=0", "--src-prefix=a/", "--dst-prefix=b/", "--submodule=short")
    algorithm = ("--diff-algorithm=histogram", "--indent-heuristic", "--full-index", "--no-relative")
    return run_git(where, *_DIFF, *flags, *algorithm, base, tree, "--", *paths, call=Call(limit=limit)).out


def list_paths(where: Repository, tree: Treeish) -> tuple[str, ...]:
    """Returns the paths of all files in a tree."""
    return tuple(run_git(where, "ls-tree", "-r", "-z", "--name-only", "--full-tree", tree).fields)


def merge_trees(where: Repository, ours: CommitId, theirs: CommitId) -> Merging:
    """Merges two commits without touching any file."""
    flags = ("--write-tree", "-z", "--name-only", "--messages")
    answer = run_git(where, "merge-tree", *flags, ours, theirs, call=_YES_OR_NO)
    tree, *fields = answer.fields
    if answer.code == 0:
        return Merged(TreeId(tree))
    end = fields.index("")
    return Conflict(tuple(fields[:end]), text=_messages(fields[end + 1 :]))


def fetch(where: Repository, store: Path, refs: Mapping[str, CommitId]) -> None:
    """Brings commits from the store and names them, without a trace besides the objects and those refs."""
    flags = (
        *(
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            "--no-recurse-submodules",
        ),
        *("--no-prune", "--no-show-forced-updates", "--no-write-commit-graph", "--update-shallow"),
    )
    specs = [f"+{commit}:{ref}" for ref, commit in refs.items()]
    # A user may have forbidden local repositories as remotes; this one is ours.
    run_git(where, "-c", "protocol.file.allow=always", "fetch", *flags, str(store), *specs)


def copy_objects(
    origin: Repository, where: Repository, *, commits: Iterable[CommitId], known: CommitId | None
) -> None:
    """Brings what commits hold into a repository that has all of the known one, however many refs it has."""
    wanted = [*commits, *([f"^{known}"] if known else [])]
    with TemporaryFile() as pack:
        call = Call(stdin="".join(f"{one}\n" for one in wanted).encode(), output=pack)
        run_git(
            origin, "pack-objects", "--revs", "--thin", "--delta-base-offset", "--stdout", "-q", call=call
        )
        pack.seek(8)
        is_small = int.from_bytes(pack.read(4)) < _UNPACK_LIMIT
        how = ("unpack-objects", "-q") if is_small else ("index-pack", "--stdin", "--fix-thin")
        run_git(where, *how, call=Call(stdin=pack))


def update_ref(
    where: Repository,
    ref: str,
    commit: CommitId,
    *,
    expected: CommitId | None,
    before: Mapping[str, CommitId] = _NOTHING,
) -> bool:
    """Moves a ref from where it is expected to be, or makes it if nothing is; says whether that came true.

    `before` are refs that are set in any case, first and together with it, or not at all.
    """
    lines = [f"update {name} {target}\n" for name, target in before.items()]
    lines.append(f"update {ref} {commit} {expected or '0' * len(commit)}\n")
    call = Call(stdin="".join(lines).encode(), accept=None)
    return run_git(where, "update-ref", "--no-deref", "--stdin", call=call).code == 0


def set_ref(where: Repository, ref: str, commit: CommitId) -> None:
    """Makes a ref name a commit, whatever it named."""
    run_git(where, "update-ref", "--no-deref", ref, commit)


def list_refs(where: Repository, below: str) -> dict[str, CommitId]:
    """Returns all refs below a name, and the commits they name."""
    found = run_git(where, "for-each-ref", "--format=%(refname)%00%(objectname)", below).text
    pairs = (line.split("\0") for line in found.splitlines())
    return {ref: CommitId(commit) for ref, commit in pairs}


def delete_refs(where: Repository, below: str) -> None:
    """Deletes all refs below a name, together or not at all."""
    lines = "".join(f"delete {ref}\n" for ref in list_refs(where, below))
    if lines:
        run_git(where, "update-ref", "--no-deref", "--stdin", call=Call(stdin=lines.encode()))


def describe_ref(where: Repository, ref: str, *fields: str) -> tuple[str, ...] | None:
    """Returns what git knows about a ref, by the names of `for-each-ref`; nothing if there is no such ref."""
    wanted = "%00".join(f"%({field})" for field in ("refname", *fields))
    # The pattern also matches refs below this one, so the name is compared.
    for record in run_git(where, "for-each-ref", f"--format={wanted}%00%00", ref).text.split("\0\0\n"):
        name, *values = record.removesuffix("\0\0").split("\0")
        if name == ref:
            return tuple(values)
    return None


def _signature(stamp: Stamp) -> dict[str, str]:
    if stamp.when.tzinfo is None:
        raise GitError(f"{stamp.when} does not say in which time zone")
    return {
        f"GIT_{role}_{key}": value
        for role in ("AUTHOR", "COMMITTER")
        for key, value in (
            ("NAME", stamp.identity.name),
            ("EMAIL", stamp.identity.email),
            ("DATE", f"@{int(stamp.when.timestamp())} +0000"),
        )
    }


def _messages(fields: list[str]) -> str:
    texts: list[str] = []
    rest = fields
    while rest:
        paths = int(rest[0])
        texts.append(rest[paths + 2])
        rest = rest[paths + 3 :]
    return "".join(texts).strip()
