"""The change that a reviewer reads: nothing of it is pushed out of sight by something else."""

from amelia.run.review_diff import review_diff
from repositories import Run


def shown(run: Run, limit: int = 200_000) -> str:
    return review_diff(run.store, run.base, run.snapshot().tree, base=run.base, limit=limit)


def test_all_files_are_listed_first_and_lock_files_are_folded(run: Run) -> None:
    run.prepare().write({"new.py": "x = 1\n", "uv.lock": "noise\n" * 5000, "pic": b"\0\1\2"})
    text = shown(run)
    listed, _, patch = text.partition("\n\n")
    assert "3 files changed" in listed
    assert "A uv.lock +5000 (lock file, folded)" in listed
    assert "A pic binary, 3 bytes" in listed
    assert "+x = 1" in patch
    assert "noise" not in text


def test_a_change_cannot_call_its_own_files_generated(run: Run) -> None:
    run.prepare().write({".gitattributes": "* linguist-generated\n", "evil.py": "evil = 1\n"})
    assert "+evil = 1" in shown(run)


def test_a_large_file_takes_no_other_out_of_sight(run: Run) -> None:
    small = {f"z{number}.py": f"small = {number}\n" for number in range(20)}
    run.prepare().write({"a.txt": "large\n" * 100_000, "b.txt": "l" * 500_000, **small})
    text = shown(run, limit=20_000)
    assert len(text) < 30_000
    for number in range(20):
        assert f"+small = {number}\n" in text
    end = text[text.index("there is no room for all of it") :]
    assert "  a.txt\n  b.txt" in end
    assert "small" not in end


def test_names_that_are_patterns_are_names(run: Run) -> None:
    run.prepare().write({"*.lock/uv.lock": "folded\n", ":(top)x.py": "y = 1\n", "[a]": "z = 1\n"})
    text = shown(run)
    assert "+y = 1" in text
    assert "+z = 1" in text
    assert "+folded" not in text


def test_nothing_changed_is_nothing_to_read(run: Run) -> None:
    run.prepare()
    assert shown(run) == ""


def test_a_change_of_lock_files_alone_is_a_list(run: Run) -> None:
    run.prepare().write({"go.sum": "x\n"})
    assert shown(run).splitlines() == ["1 file changed, +1 -0:", "  A go.sum +1 (lock file, folded)"]
