"""Several files of a tree are read by one command, whatever they are called and hold."""

from amelia.workspace.diff import files_at
from repositories import Run


def test_only_files_that_are_there_are_read(run: Run) -> None:
    agent = run.prepare()
    agent.write({"empty": "", "a b\n.txt": "1\nmissing\n", "bin": b"\0\n\1", "folder/inner": "x"})
    tree = run.snapshot().tree
    asked = ["none", "bin", "folder", "a b\n.txt", "empty", "no\nne", "folder/inner"]
    assert files_at(run.store, tree, asked) == {
        "bin": b"\0\n\1",
        "a b\n.txt": b"1\nmissing\n",
        "empty": b"",
        "folder/inner": b"x",
    }
    assert files_at(run.store, tree, ["none", "bin", "folder", "empty"]) == {"bin": b"\0\n\1", "empty": b""}
    assert files_at(run.store, tree, []) == {}
