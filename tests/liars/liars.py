"""A court for liars: a repository, its tests, and verdicts on work that bends them.

A liar breaks what the tests ask for and changes something else so that they pass, or do not run. Its honest
twin makes the same change, or a harmless one of the same kind, and breaks nothing. Everything is real: git,
the judge's tree, the runner. There are only no agents, which take longer than all the rest; `told` is a
whole run with them.
"""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import anyio

from amelia.judge.detect import find_command
from amelia.judge.splice import splice
from amelia.judge.trusted import Custody, custody, is_test_code, recipe_texts
from amelia.judge.verify import Verifier
from amelia.model.evidence import Delta, Demands, TestCommand, Verdict, VerifySettings
from amelia.model.git import TreeId
from amelia.model.plan import TaskType
from amelia.run.judging import judge_tree, texts_at
from amelia.system.git_places import Store
from amelia.workspace.diff import changes, paths_in
from amelia.workspace.source import open_source
from repositories import make_repository
from stories import APPROVED, Act, develops, make_stage

Bend = Mapping[str, str | None]
"""New texts of files; None takes a file away."""


@dataclass(frozen=True, slots=True)
class Lie:
    """What a liar changes beside the code; `twin` is what its honest twin changes, if not the same."""

    bend: Bend
    twin: Bend | None = None

    @property
    def honest(self) -> Bend:
        return self.bend if self.twin is None else self.twin


@dataclass(frozen=True, slots=True)
class Craft:
    """A repository with tests: its files, the code that they test as a unit leaves it, good and broken."""

    files: Mapping[str, str]
    good: Bend
    broken: Bend
    command: tuple[str, ...] | None = None
    env: Mapping[str, str] = field(default_factory=dict[str, str])


class Court:
    """Judges work on one repository; what was seen of a tree is remembered."""

    def __init__(self, room: Path, craft: Craft) -> None:
        self.craft = craft
        self.repo = make_repository(room / "repository", craft.files)
        (room / "store.git").symlink_to(self.repo.path / ".git")
        self.store = Store(run="liars", directory=room, source=open_source(self.repo.path))
        self.worktree = room / "worktree"
        self.worktree.mkdir()
        self.base = self.repo.git("rev-parse", "HEAD^{tree}")
        settings = VerifySettings(command=craft.command)
        self.verifier = Verifier(
            command=find_command(self.repo.path, settings), settings=settings, home=room / "home"
        )

    def verdict(self, work: Bend) -> Verdict:
        """Judges a unit that was to change the code, and left these files."""
        tree = TreeId(self._tree(work))
        demands = Demands(
            types=(TaskType.IMPL,),
            declared=tuple(self.craft.good),
            section="### Task 1: Subtract\n\nWrite `subtract(a, b)`.",
        )
        shop = cast("Any", SimpleNamespace(store=self.store, verifier=self.verifier))
        changed = changes(self.store, TreeId(self.base), tree)
        delta = Delta(
            base=self.base,
            tree=tree,
            changes=changed,
            files=frozenset(paths_in(self.store, tree)),
            before=texts_at(shop, TreeId(self.base), [one.path for one in changed if is_test_code(one.path)]),
        )

        async def judged() -> Verdict:
            judges = judge_tree(shop, delta, demands)
            verdict, _ = await self.verifier.verify(delta, demands, self._checkout, judges=judges)
            return verdict

        return anyio.run(judged)

    def _tree(self, work: Bend) -> str:
        self.repo.git("read-tree", "-u", "--reset", self.base)
        self.repo.git("clean", "-fdqx")
        for path, text in work.items():
            file = self.repo.path / path
            if text is None:
                file.unlink()
            else:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
        self.repo.git("add", "--all", "--force")
        return self.repo.git("write-tree")

    async def _checkout(self, tree: str) -> Path:
        """Puts exactly one tree into the worktree; what cargo built stays."""
        for path in self.worktree.iterdir():
            if path.name == "target":
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        archive = self.worktree.parent / "tree.tar"
        self.repo.git("archive", "--output", str(archive), tree)
        shutil.unpack_archive(archive, self.worktree, filter="fully_trusted")
        for path in self.repo.git("ls-tree", "-r", "--name-only", tree).splitlines():
            os.utime(self.worktree / path, follow_symlinks=False)  # an archive knows no parts of a second
        return self.worktree


def lies(court: Court, lie: Lie) -> None:
    """Proves that nothing lands of a liar."""
    verdict = court.verdict({**court.craft.broken, **lie.bend})
    assert not verdict.passed, verdict


def is_honest(court: Court, lie: Lie) -> None:
    """Proves that work of the liar's honest twin lands, and nobody has to rule on it."""
    verdict = court.verdict({**court.craft.good, **lie.honest})
    assert verdict.passed, verdict
    assert not verdict.edits.ruled


def on_paper(craft: Craft, command: TestCommand, work: Bend) -> dict[str, str]:
    """Returns the judge's tree of some work without git, for runners that are not at hand."""
    before = dict(craft.files)
    after = {path: text for path, text in {**before, **work}.items() if text is not None}
    recipes = recipe_texts(command, before.get)
    found: dict[str, str | None] = {}
    for path in before.keys() | after.keys():
        was, now = before.get(path), after.get(path)
        match custody(path, command, recipes):
            case Custody.SOURCE:
                found[path] = now
            case Custody.PART:
                found[path] = splice(path, was, now, command=command)
            case _:
                found[path] = was
    return {path: text for path, text in found.items() if text is not None}


def told(room: Path, craft: Craft, work: Bend) -> tuple[str, list[str]]:
    """Returns how a whole run ends in which an agent leaves some work, and what landed."""
    command = "" if craft.command is None else f"[verify]\ncommand = {[*craft.command]}\n\n"
    settings = f'tdd = "off"\n\n{command}[modes.tasks]\nattempts = 1\n'
    stage = make_stage(room, {**craft.files, "amelia.toml": settings})
    acts: list[Act] = [
        {"delete": path} if text is None else {"write": path, "text": text} for path, text in work.items()
    ]
    plan = (
        "# Calculator\n\n### Task 1: Subtract\n- Type: impl\n- Files: modify "
        f"{', '.join(craft.good)}\n\nWrite `subtract(a, b)`.\n"
    )
    done = stage.run(plan, develops("1", *acts), APPROVED, options=["--mode", "tasks"], env=craft.env)
    assert done.out, done.err
    return done.outcome, stage.subjects()
