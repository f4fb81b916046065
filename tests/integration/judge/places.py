"""A place to test in: trees by name, put into one worktree as a caller of the verifier would."""

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from textwrap import dedent

from amelia.judge.detect import find_command
from amelia.judge.receipts import digest
from amelia.judge.verify import Verifier
from amelia.model.evidence import Receipt, TestStatus, VerifySettings


class Place:
    """One worktree, the trees that were written down for it, and the checkouts that were asked for."""

    def __init__(self, root: Path) -> None:
        self.worktree = root / "worktree"
        self.worktree.mkdir()
        self.home = root / "home"
        self.trees: dict[str, Mapping[str, str]] = {}
        self.checkouts: list[str] = []

    def tree(self, name: str, files: Mapping[str, str]) -> str:
        """Writes a tree down."""
        self.trees[name] = {path: dedent(text) for path, text in files.items()}
        return name

    async def checkout(self, tree: str) -> Path:
        """Makes the worktree hold exactly one tree; ignored files stay."""
        self.checkouts.append(tree)
        for path in self.worktree.iterdir():
            if path.name in {".venv", ".marks"}:
                continue
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
        for name, text in self.trees[tree].items():
            path = self.worktree / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return self.worktree

    async def verifier(
        self, tree: str, settings: VerifySettings | None = None, *, known: Iterable[Receipt | None] = ()
    ) -> Verifier:
        """Returns a verifier with the command that fits a tree, and that knows of receipts."""
        settings = settings or VerifySettings()
        command = find_command(await self.checkout(tree), settings)
        self.checkouts.clear()
        proofs = [digest(receipt) for receipt in known if receipt is not None]
        return Verifier(command=command, settings=settings, home=self.home, known=proofs)

    async def run(self, files: Mapping[str, str], settings: VerifySettings | None = None) -> Receipt:
        """Runs the tests of a tree and returns what was seen."""
        self.tree("only", files)
        receipt = await (await self.verifier("only", settings)).receipt("only", self.checkout)
        assert receipt is not None
        return receipt


def seen(receipt: Receipt) -> dict[str, TestStatus]:
    """Returns the status of each test of a receipt that has a fault neither in its run nor in its report."""
    assert receipt.fault is None, receipt.fault
    assert receipt.results is not None
    return {result.id: result.status for result in receipt.results}
