"""The few git commands that look at the user's checkout as they see it, or change it because they asked."""

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from amelia.model.git import CommitId
from amelia.system.git import Answer, Call, Repository, run_git


@dataclass(frozen=True, slots=True)
class Logged:
    """A commit of a history, with what its author wrote."""

    commit: CommitId
    parents: tuple[CommitId, ...]
    message: str

    @property
    def subject(self) -> str:
        """The first line of the message."""
        return self.message.partition("\n")[0]


_AS_USER = Call(accept=None, as_user=True)
_STATUS = len("XY ")


def fast_forward(where: Repository, commit: CommitId) -> Answer:
    """Moves the branch that is checked out, and its files, forward to a commit; or changes nothing."""
    flags = ("--ff-only", "--no-autostash", "--no-stat", "--quiet")
    return run_git(where, "merge", *flags, commit, call=_AS_USER)


def changed_files(where: Repository) -> list[str]:
    """Returns the tracked files of a checkout that are not as HEAD has them."""
    flags = ("--porcelain=v1", "-z", "--no-renames", "--untracked-files=no", "--ignore-submodules=dirty")
    found = run_git(where, "status", *flags, call=Call(as_user=True)).fields
    return [entry[_STATUS:] for entry in found]


def unmerged_files(where: Repository) -> list[str]:
    """Returns the files with conflicts that nobody has resolved yet."""
    entries = run_git(where, "ls-files", "--unmerged", "-z").fields
    return list(dict.fromkeys(entry.partition("\t")[2] for entry in entries))


def changed_submodules(where: Repository) -> list[str]:
    """Returns the submodules in the index whose checkout is not what the index has, untracked files too."""
    fields = run_git(where, "diff-files", "--raw", "-z", "--ignore-submodules=none").fields
    records = zip(fields[::2], fields[1::2], strict=True)
    return [path for raw, path in records if raw.split()[1] == "160000"]


def files_not_tracked(where: Repository) -> list[str]:
    """Returns all files of a checkout that git does not track, ignored ones too."""
    return run_git(where, "ls-files", "-z", "--others").fields


def push(where: Repository, remote: str, refspec: str, *, environment: Mapping[str, str]) -> Answer:
    """Makes a ref of a remote name a commit that is here; never by force."""
    call = Call(accept=None, as_user=True, environment=environment, is_guarded=True)
    return run_git(where, "push", "--quiet", remote, refspec, call=call)


def list_remotes(where: Repository) -> list[str]:
    """Returns the names of the remotes of a repository."""
    return run_git(where, "remote").text.split()


def is_ancestor(where: Repository, commit: CommitId, of: CommitId) -> bool:
    """Says whether a commit is in the history of another."""
    return run_git(where, "merge-base", "--is-ancestor", commit, of, call=Call(accept=(0, 1))).code == 0


def log_messages(where: Repository, head: CommitId, *, without: CommitId, saying: str) -> list[Logged]:
    """Returns the commits of a history that is not in another's whose message holds a text, newest first."""
    return _log(where, *_saying(saying), head, f"^{without}")


def log_branches(where: Repository, *, without: CommitId, saying: str) -> list[Logged]:
    """Returns the same for the histories of all branches, also those known of remotes."""
    return _log(where, *_saying(saying), "--branches", "--remotes", f"^{without}")


def list_commits(where: Repository, base: CommitId, tip: CommitId) -> list[Logged]:
    """Returns the commits that lead from one to another, oldest first."""
    return _log(where, "--reverse", tip, f"^{base}")


def _saying(text: str) -> tuple[str, str]:
    return "--fixed-strings", f"--grep={text}"


def _log(where: Repository, *arguments: str) -> list[Logged]:
    records = run_git(where, "log", "-z", "--topo-order", "--format=%H %P%n%B", *arguments, "--").out
    texts = (record.partition("\n") for record in os.fsdecode(records).split("\0") if record)
    split = ((names.split(), message) for names, _, message in texts)
    return [Logged(CommitId(first), tuple(map(CommitId, rest)), message) for (first, *rest), message in split]


def branches_with(where: Repository, commits: Iterable[CommitId]) -> list[str]:
    """Returns the branches, also those known of remotes, whose history holds one of some commits."""
    flags = (*(f"--contains={commit}" for commit in commits), "--format=%(refname)")
    return run_git(where, "for-each-ref", *flags, "refs/heads", "refs/remotes").text.split()


def move_refs(where: Repository, *, kept: Mapping[str, CommitId], gone: Mapping[str, CommitId]) -> None:
    """Sets some refs and deletes others that are where they are said to be, together or not at all."""
    lines = [f"update {ref} {commit}\n" for ref, commit in kept.items()]
    lines += [f"delete {ref} {commit}\n" for ref, commit in gone.items()]
    run_git(where, "update-ref", "--no-deref", "--stdin", call=Call(stdin="".join(lines).encode()))


def merge_base(where: Repository, one: CommitId, other: CommitId) -> CommitId | None:
    """Returns the last commit that two histories have in common."""
    answer = run_git(where, "merge-base", one, other, call=Call(accept=(0, 1)))
    return CommitId(answer.text) if answer.code == 0 else None
