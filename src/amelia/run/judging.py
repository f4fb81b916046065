"""The judge's tree of a unit: its work, with what decides how and what is tested as it was before."""

from collections.abc import Iterable, Iterator
from functools import partial

from amelia.judge.licence import JudgeTree, touched
from amelia.judge.outcomes import outcomes
from amelia.judge.runners import selects
from amelia.judge.splice import splice
from amelia.judge.trusted import Custody, custody, recipe_files
from amelia.model.evidence import Change, Delta, Demands
from amelia.model.git import TreeId, Treeish
from amelia.run.workshop import Workshop
from amelia.workspace.diff import file_at
from amelia.workspace.judge_tree import make_judge_tree


def judge_tree(shop: Workshop, delta: Delta, demands: Demands) -> JudgeTree:
    """Returns what of the judge's a unit changed, and the tree to test with that as it was, if it did."""
    command, base = shop.verifier.command, TreeId(delta.base)
    recipes = texts_at(shop, base, recipe_files(command)).values() if delta.changes else ()
    whose = partial(custody, command=command, recipes=tuple(recipes))
    changed = list(_really_changed(shop, delta, whose))
    found = touched(changed, demands, custody=whose, guarded=_guarded(shop, delta, demands))
    if command is None or not (found.tests or found.others):
        return JudgeTree(touched=found)
    names = {*found.tests, *found.new_tests, *found.others}
    parts = [path for path in found.others if whose(path) is Custody.PART]
    before, after = texts_at(shop, base, parts), texts_at(shop, TreeId(delta.tree), parts)
    tree = make_judge_tree(
        shop.store,
        TreeId(delta.tree),
        entries={change.path: change.was for change in changed if change.path in names - {*parts}},
        texts={path: splice(path, before.get(path), after.get(path)) for path in parts},
    )
    is_enough = selects(command) and not found.others
    return JudgeTree(touched=found, tree=tree, only=found.tests if is_enough else ())


def texts_at(shop: Workshop, tree: Treeish, paths: Iterable[str]) -> dict[str, str]:
    """Returns the texts of those files that a tree has."""
    found = {path: file_at(shop.store, tree, path) for path in paths}
    return {path: data.decode(errors="replace") for path, data in found.items() if data is not None}


def _really_changed(shop: Workshop, delta: Delta, whose: partial[Custody]) -> Iterator[Change]:
    """Yields the changes, without those of files whose parts that are the judge's are the same."""
    for change in delta.changes:
        if whose(change.path) is Custody.PART:
            before = texts_at(shop, TreeId(delta.base), [change.path]).get(change.path)
            after = texts_at(shop, TreeId(delta.tree), [change.path]).get(change.path)
            if splice(change.path, before, after) == after:
                continue
        yield change


def _guarded(shop: Workshop, delta: Delta, demands: Demands) -> frozenset[str]:
    """Returns the files of the tests that a unit was to make pass."""
    seen = outcomes(shop.verifier.seen(delta.base))
    owed = (seen.get(name) for name in demands.required_green)
    return frozenset(one.file for one in owed if one is not None and one.file is not None)
