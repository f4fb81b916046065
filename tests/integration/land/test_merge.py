from amelia.land.merge import merge
from amelia.model.git import CommitId, Conflict, Merged
from amelia.workspace.diff import file_at
from repositories import Run, git


def commits(run: Run, *steps: dict[str, str | bytes]) -> list[CommitId]:
    """Returns snapshots of different changes, all made from the base."""
    made: list[CommitId] = []
    for number, files in enumerate(steps, start=1):
        run.prepare().write(files)
        made.append(run.snapshot(attempt=number).commit)
    return made


def test_work_on_different_files_is_put_together(run: Run) -> None:
    theirs, mine = commits(run, {"theirs.py": "t\n"}, {"mine.py": "m\n", "src/app.py": "changed\n"})
    merged = merge(run.store, snapshot=mine, tip=theirs)
    assert isinstance(merged, Merged)
    found = [file_at(run.store, merged.tree, name) for name in ("theirs.py", "mine.py", "src/app.py")]
    assert found == [b"t\n", b"m\n", b"changed\n"]


def test_a_conflict_names_the_places_and_says_why(run: Run) -> None:
    theirs, mine = commits(
        run, {"src/app.py": "theirs\n", "né w": "1\n"}, {"src/app.py": "mine\n", "né w": "2\n"}
    )
    conflict = merge(run.store, snapshot=mine, tip=theirs)
    assert isinstance(conflict, Conflict)
    assert conflict.paths == ("né w", "src/app.py")
    assert "CONFLICT (content): Merge conflict in src/app.py" in conflict.text
    assert "CONFLICT (add/add): Merge conflict in né w" in conflict.text


def test_a_deletion_against_a_change_is_a_conflict(run: Run) -> None:
    [theirs] = commits(run, {"src/app.py": "theirs\n"})
    agent = run.prepare()
    (agent.path / "src/app.py").unlink()
    mine = run.snapshot(attempt=2).commit
    conflict = merge(run.store, snapshot=mine, tip=theirs)
    assert isinstance(conflict, Conflict)
    assert "modify/delete" in conflict.text


def test_merging_touches_no_file_and_no_ref(run: Run) -> None:
    theirs, mine = commits(run, {"a": "1"}, {"b": "2"})
    refs = git(run.store.git_dir, "for-each-ref")
    merge(run.store, snapshot=mine, tip=theirs)
    assert git(run.store.git_dir, "for-each-ref") == refs
    assert not (run.work.directory / "a").exists()
