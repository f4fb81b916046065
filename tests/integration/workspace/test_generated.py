"""Generated files are left out of what is kept, whatever names and links there are."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from amelia.workspace.diff import paths_in
from amelia.workspace.generated import exclude_generated, find_generated, left_out
from repositories import FILES, Repo, Run, make_repository, start_run


def kept(run: Run) -> set[str]:
    """Returns the files of a snapshot that are not those of the base."""
    return set(paths_in(run.store, run.snapshot().tree)) - set(paths_in(run.store, run.base))


def test_names_with_meaning_to_git_are_tracked_and_declared_by_their_letters(tmp_path: Path) -> None:
    odd = "we[i]rd d!r/#x"
    repo = make_repository(tmp_path / "repository", {**FILES, f"{odd}/node_modules/a.js": "1"})
    run = start_run(repo, tmp_path / "run")
    exclude_generated(
        run.store, run.base, declared=["app/[id]/node_modules/x y.js", "../out.pyc", "/abs.pyc", ""]
    )
    files = [
        f"{odd}/node_modules/b.js",
        "app/[id]/node_modules/x y.js",
        "app/[id]/node_modules/z.js",
        "i/x.pyc",
    ]
    run.prepare().write(dict.fromkeys(files, "x"))
    assert kept(run) == {f"{odd}/node_modules/b.js", "app/[id]/node_modules/x y.js"}
    assert left_out(run.work.repository, run.source) == ("app/[id]/node_modules/z.js", "i/")


def test_what_was_said_before_stays_and_is_said_once(run: Run) -> None:
    place = run.store.git_dir / "info" / "exclude"
    place.write_text(f"mine\n{place.read_text()}later\n")
    exclude_generated(run.store, run.base, declared=["node_modules/a"])
    once = place.read_text()
    exclude_generated(run.store, run.base, declared=["node_modules/a"])
    assert place.read_text() == once
    assert once.startswith("mine\n")
    assert once.endswith("later\n")
    assert once.count("__pycache__/") == 1


def test_a_store_of_an_older_version_learns_it(run: Run) -> None:
    (run.store.git_dir / "info" / "exclude").write_text("mine\n")
    exclude_generated(run.store, run.base)
    run.prepare().write({"__pycache__/x.pyc": "x", "mine": "x", "a": "x"})
    assert kept(run) == {"a"}


def test_lanes_that_speak_at_the_same_time_lose_no_line(run: Run) -> None:
    names = [f"node_modules/{number}.js" for number in range(40)]
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(exclude_generated, run.store, run.base, declared=[name]) for name in names]:
            done.result()
    run.prepare().write(dict.fromkeys([*names, "node_modules/other.js"], "x"))
    assert kept(run) == set(names)


def test_links_and_repositories_inside_are_not_looked_into(run: Run, tmp_path: Path) -> None:
    outside = Repo(tmp_path / "outside")
    outside.write({"pyvenv.cfg": "", "deep/pyvenv.cfg": ""})
    agent = run.prepare()
    agent.write({"new/inner/pyvenv.cfg": "", "new/a": "x", "new/.git/deps/pyvenv.cfg": ""})
    (agent.path / "link").symlink_to(outside.path)
    (agent.path / "new" / "link").symlink_to(outside.path)
    (agent.path / "new" / "cache").mkdir()
    (agent.path / "new" / "cache" / "CACHEDIR.TAG").symlink_to(outside.path / "pyvenv.cfg")
    assert find_generated(run.work.repository) == ("new/inner/",)
    assert find_generated(run.work.repository, declared=["new/inner/pyvenv.cfg"]) == ()
