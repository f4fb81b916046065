"""The judge's tree of a unit: its work, with what decides how and what is tested as it was before."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace

from amelia.judge.licence import JudgeTree, Touched, touched
from amelia.judge.outcomes import outcomes
from amelia.judge.runners import selects
from amelia.judge.splice import is_inseparable, splice
from amelia.judge.trusted import Custody, custody, recipe_files, recipe_texts
from amelia.model.evidence import Change, ChangeStatus, Delta, Demands
from amelia.model.git import TreeId, Treeish
from amelia.run.workshop import Workshop
from amelia.workspace.diff import changes, files_at
from amelia.workspace.judge_tree import make_judge_tree

_FILE = "100644"


@dataclass(frozen=True, slots=True)
class _Trees:
    """Two trees of a run: one that is trusted, and one to judge; `recipes` say what the command runs."""

    shop: Workshop
    base: TreeId
    tree: TreeId
    recipes: tuple[str, ...]

    def custody(self, change: Change) -> Custody:
        """Returns whose a changed file is; one whose judge's parts are the same is the unit's."""
        is_new = change.status is ChangeStatus.ADDED
        whose = custody(change.path, self.shop.verifier.command, self.recipes, is_new=is_new)
        if whose is Custody.PART:
            before, after = self.texts(change.path)
            if self.spliced(change.path) == after and not is_inseparable(change.path, before, after):
                return Custody.SOURCE
        return whose

    def texts(self, path: str) -> tuple[str | None, str | None]:
        """Returns a file on both trees."""
        before, after = (texts_at(self.shop, tree, [path]) for tree in (self.base, self.tree))
        return before.get(path), after.get(path)

    def spliced(self, path: str) -> str | None:
        """Returns a file to judge, with the parts that are the judge's as they were."""
        return splice(path, *self.texts(path), command=self.shop.verifier.command)

    def restored(self, changed: Iterable[Change], whose: Callable[[Change], Custody]) -> TreeId:
        """Returns the tree to judge with some files as they were, or with the judge's parts of them."""
        entries: dict[str, str] = {}
        texts: dict[str, tuple[str, str]] = {}
        for change in changed:
            if whose(change) is not Custody.PART:
                entries[change.path] = change.was
            elif (text := self.spliced(change.path)) is None:
                entries[change.path] = ""
            else:
                texts[change.path] = change.was.partition(" ")[0] or _FILE, text
        return make_judge_tree(self.shop.store, self.tree, entries=entries, texts=texts)


def judge_tree(shop: Workshop, delta: Delta, demands: Demands) -> JudgeTree:
    """Returns what of the judge's a unit changed, and the tree to test with that as it was, if it did."""
    trees = _trees(shop, TreeId(delta.base), TreeId(delta.tree))
    known = {change.path: trees.custody(change) for change in delta.changes}
    found = touched(delta.changes, demands, custody=known.__getitem__, guarded=_guarded(shop, delta, demands))
    found = replace(
        found, unclear=tuple(path for path in found.inside if is_inseparable(path, *trees.texts(path)))
    )
    if shop.verifier.command is None or not found.foreign:
        return JudgeTree(touched=found)

    def tree_of(touched: Touched) -> JudgeTree:
        names = {*touched.tests, *touched.new_tests, *touched.others, *touched.inside}
        ours = [change for change in delta.changes if change.path in names]
        if not ours:
            return JudgeTree(touched=touched)
        left = tuple(change.path for change in ours if change.status is not ChangeStatus.DELETED)
        is_apart = selects(shop.verifier.command) and names <= {*touched.tests, *touched.new_tests}
        tree = trees.restored(ours, lambda change: known[change.path])
        return JudgeTree(touched=touched, tree=tree, apart=left if is_apart and not touched.mixed else None)

    strict = replace(found, others=(*found.others, *found.mixed), mixed=())
    return replace(tree_of(found), stricter=tree_of(strict) if found.mixed else None)


def branch_tree(
    trees: tuple[TreeId, TreeId], edits: tuple[Collection[str], tuple[str, ...]], shop: Workshop
) -> JudgeTree | None:
    """Returns the last of two trees with some files as on the first, if that makes a difference.

    `edits` are these files, and those of tests that units were to change.
    """
    restored, licensed = edits
    if not restored:
        return None
    base, tip = trees
    both = _trees(shop, base, tip)
    whose = {
        change: both.custody(change) for change in changes(shop.store, base, tip) if change.path in restored
    }
    changed = [change for change, custody in whose.items() if custody is not Custody.SOURCE]
    tree = both.restored(changed, whose.__getitem__)
    named = Touched(own=licensed, others=tuple(change.path for change in changed))
    return JudgeTree(touched=named, tree=tree) if tree != tip else None


def texts_at(shop: Workshop, tree: Treeish, paths: Iterable[str]) -> dict[str, str]:
    """Returns the texts of those files that a tree has."""
    found = files_at(shop.store, tree, paths)
    return {path: data.decode(errors="surrogateescape") for path, data in found.items()}


def _trees(shop: Workshop, base: TreeId, tree: TreeId) -> _Trees:
    command = shop.verifier.command
    first = recipe_files(command)
    known = texts_at(shop, base, first)

    def text_of(path: str) -> str | None:
        return known.get(path) if path in first else texts_at(shop, base, [path]).get(path)

    return _Trees(shop, base, tree, recipe_texts(command, text_of))


def _guarded(shop: Workshop, delta: Delta, demands: Demands) -> frozenset[str]:
    """Returns the files of the tests that this unit, or another, was to make pass."""
    seen = outcomes(shop.verifier.seen(delta.base))
    named = (*demands.required_green, *demands.open_red)
    found = (seen.get(name) for name in named)
    return frozenset(one.file for one in found if one is not None and one.file is not None)
