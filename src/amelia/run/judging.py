"""The judge's tree of a unit: its work, with what decides how and what is tested as it was before."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

from amelia.judge.licence import JudgeTree, Touched, touched
from amelia.judge.outcomes import outcomes
from amelia.judge.runners import selects
from amelia.judge.splice import splice
from amelia.judge.trusted import Custody, custody, recipe_files
from amelia.model.evidence import Change, ChangeStatus, Delta, Demands
from amelia.model.git import TreeId, Treeish
from amelia.run.workshop import Workshop
from amelia.workspace.diff import changes, file_at
from amelia.workspace.judge_tree import make_judge_tree


@dataclass(frozen=True, slots=True)
class _Trees:
    """Two trees of a run: one that is trusted, and one to judge; `recipes` say what the command runs."""

    shop: Workshop
    base: TreeId
    tree: TreeId
    recipes: tuple[str, ...]

    def custody(self, path: str) -> Custody:
        return custody(path, self.shop.verifier.command, self.recipes)

    def texts(self, path: str) -> tuple[str | None, str | None]:
        """Returns a file on both trees."""
        before, after = (texts_at(self.shop, tree, [path]) for tree in (self.base, self.tree))
        return before.get(path), after.get(path)

    def really(self, changed: Iterable[Change]) -> Iterator[Change]:
        """Yields the changes, without those of files whose parts that are the judge's are the same."""
        for change in changed:
            if self.custody(change.path) is Custody.PART:
                before, after = self.texts(change.path)
                if splice(change.path, before, after) == after:
                    continue
            yield change

    def restored(self, changed: Iterable[Change]) -> TreeId:
        """Returns the tree to judge with some files as they were, or with the judge's parts of them."""
        entries: dict[str, str] = {}
        texts: dict[str, str | None] = {}
        for change in changed:
            if self.custody(change.path) is Custody.PART:
                texts[change.path] = splice(change.path, *self.texts(change.path))
            else:
                entries[change.path] = change.was
        return make_judge_tree(self.shop.store, self.tree, entries=entries, texts=texts)


def judge_tree(shop: Workshop, delta: Delta, demands: Demands) -> JudgeTree:
    """Returns what of the judge's a unit changed, and the tree to test with that as it was, if it did."""
    trees = _trees(shop, TreeId(delta.base), TreeId(delta.tree))
    changed = list(trees.really(delta.changes))
    found = touched(changed, demands, custody=trees.custody, guarded=_guarded(shop, delta, demands))
    if shop.verifier.command is None or not found.foreign:
        return JudgeTree(touched=found)
    strict = replace(found, others=(*found.others, *found.mixed), mixed=())
    otherwise = _judge_tree(trees, found, changed) if found.mixed else None
    return replace(_judge_tree(trees, strict, changed), otherwise=otherwise)


def branch_tree(trees: tuple[TreeId, TreeId], restored: Collection[str], shop: Workshop) -> JudgeTree | None:
    """Returns the last of two trees with some files as on the first, if that makes a difference."""
    if not restored:
        return None
    base, tip = trees
    changed = [change for change in changes(shop.store, base, tip) if change.path in restored]
    tree = _trees(shop, base, tip).restored(changed)
    named = Touched(others=tuple(change.path for change in changed))
    return JudgeTree(touched=named, tree=tree) if tree != tip else None


def texts_at(shop: Workshop, tree: Treeish, paths: Iterable[str]) -> dict[str, str]:
    """Returns the texts of those files that a tree has."""
    found = {path: file_at(shop.store, tree, path) for path in paths}
    return {path: data.decode(errors="replace") for path, data in found.items() if data is not None}


def _trees(shop: Workshop, base: TreeId, tree: TreeId) -> _Trees:
    recipes = texts_at(shop, base, recipe_files(shop.verifier.command))
    return _Trees(shop, base, tree, tuple(recipes.values()))


def _judge_tree(trees: _Trees, found: Touched, changed: Iterable[Change]) -> JudgeTree:
    names = {*found.tests, *found.new_tests, *found.others}
    if not names:
        return JudgeTree(touched=found)
    ours = [change for change in changed if change.path in names]
    left = tuple(change.path for change in ours if change.status is not ChangeStatus.DELETED)
    is_apart = selects(trees.shop.verifier.command) and not found.others and not found.mixed
    return JudgeTree(touched=found, tree=trees.restored(ours), apart=left if is_apart else None)


def _guarded(shop: Workshop, delta: Delta, demands: Demands) -> frozenset[str]:
    """Returns the files of the tests that a unit was to make pass."""
    seen = outcomes(shop.verifier.seen(delta.base))
    owed = (seen.get(name) for name in demands.required_green)
    return frozenset(one.file for one in owed if one is not None and one.file is not None)
