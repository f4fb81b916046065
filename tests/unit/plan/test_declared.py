r"""What declared paths mean: `tests/test_a.py::test_x`, `src/{m,n}.py`, `XXXX_add.py`, `<name>.md`, `src\a.py`."""

import pytest

from amelia.model.diagnostics import Severity
from amelia.model.plan import Task, TaskId
from amelia.model.settings import PlanSettings
from amelia.plan.compile import compile_plan
from amelia.plan.declared import Asked, as_pattern, asked_for, required, spelled_out
from amelia.plan.read import read_plan


@pytest.mark.parametrize(
    ("written", "files"),
    [
        ("src/a.py", ["src/a.py"]),
        (" src/a.py ", ["src/a.py"]),
        ("tests/test_a.py::test_x", ["tests/test_a.py"]),
        ("tests/test_a.py::TestA::test_x[1-a/b]", ["tests/test_a.py"]),
        ("crate::tests", ["crate::tests"]),
        ("src/a.py:10", ["src/a.py"]),
        ("src/a.py:10-20", ["src/a.py"]),
        ("src/a.py:10:3", ["src/a.py"]),
        ("src/a.py:L10-L20", ["src/a.py"]),
        ("src/a.py#L10-L20", ["src/a.py"]),
        ("src/{m,n}.py", ["src/m.py", "src/n.py"]),
        ("src/{m, n}.py", ["src/m.py", "src/n.py"]),
        ("src/{a,b}/{c,d}.py", ["src/a/c.py", "src/a/d.py", "src/b/c.py", "src/b/d.py"]),
        ("src/{a,{b,c}}.py", ["src/a.py", "src/b.py", "src/c.py"]),
        ("src/a{,_test}.go", ["src/a.go", "src/a_test.go"]),
        ("f{08..10}.txt", ["f08.txt", "f09.txt", "f10.txt"]),
        ("{" + ",".join(map(str, range(99))) + "}.py", ["{" + ",".join(map(str, range(99))) + "}.py"]),
        ("src/a.py, src/b.py", ["src/a.py", "src/b.py"]),
        ("src/a.py; src/b.py:10", ["src/a.py", "src/b.py"]),
        ("src/A.java / src/ATest.java", ["src/A.java", "src/ATest.java"]),
        ("src/a.py + src/b.py and src/c.py", ["src/a.py", "src/b.py", "src/c.py"]),
        ("src/old.py → src/new.py", ["src/old.py → src/new.py"]),
        ("src/a.py or src/b.py", ["src/a.py or src/b.py"]),
        ("docs/terms, conditions.md", ["docs/terms, conditions.md"]),
        ("src/a.py:ClassName", ["src/a.py"]),
        ("src/a.py:main()", ["src/a.py"]),
        ("src/a.py#main", ["src/a.py"]),
        ("src/a.py (new)", ["src/a.py"]),
        ("src/a.py L10-20", ["src/a.py"]),
        ("src/a.py lines 10–20", ["src/a.py"]),
        ("app.models:User", ["app.models:User"]),
        ("src/with space.py", ["src/with space.py"]),
        ("src/{id}.py", ["src/{id}.py"]),
        ("src\\app\\a.py", ["src/app/a.py"]),
        (".\\src\\a.py", ["./src/a.py"]),
        ("src/\\_\\_init\\_\\_.py", ["src/__init__.py"]),
        ("x" * 501 + "{a,b}", ["x" * 501 + "{a,b}"]),
    ],
)
def test_a_path_is_spelled_out(written: str, files: list[str]) -> None:
    assert spelled_out(written) == files


@pytest.mark.parametrize(
    ("path", "pattern"),
    [
        ("migrations/XXXX_add.py", "migrations/*_add.py"),
        ("migrations/0XXX_add.py", "migrations/*_add.py"),
        ("migrations/NNNN-add.sql", "migrations/*-add.sql"),
        ("db/YYYYMMDDHHMMSS_add.rb", "db/*_add.rb"),
        ("docs/YYYY-MM-DD-notes.md", "docs/*-notes.md"),
        ("db/[timestamp]_add.ts", "db/*_add.ts"),
        ("db/TIMESTAMP_add.ts", "db/*_add.ts"),
        ("docs/adr/adr-N.md", "docs/adr/adr-*.md"),
        ("docs/<feature name>.md", "docs/*.md"),
        ("src/{id}/page.tsx", "src/*/page.tsx"),
        ("src/${name}.ts", "src/*.ts"),
        ("src/{{name}}.ts", "src/*.ts"),
        ("src/.../a.py", "src/**/a.py"),
        ("src/…_a.py", "src/*_a.py"),
        ("src/*.py", "src/*.py"),
        ("./src/**/test_?.py", "src/**/test_?.py"),
        ("build/*", "build/*"),
    ],
)
def test_a_placeholder_is_a_pattern(path: str, pattern: str) -> None:
    found = asked_for(path)
    assert (found.asked, found.pattern, found.is_loose) == (Asked.PATTERN, pattern, False)
    assert as_pattern(path) == pattern


@pytest.mark.parametrize(
    "path",
    [
        *("src/a.py", "src/", "src/models", "Makefile", "README", ".env", "src/.env", "bin/tool", "a.toml"),
        *("pages/[id].tsx", "pages/[...slug].tsx", "app/(auth)/page.tsx", "docs/my notes.md", "./a.py"),
        *("src/XML.py", "src/NNet.py", "src/X.py", "src/MAXX.py", "v/x.custom"),
    ],
)
def test_a_name_is_a_file(path: str) -> None:
    assert asked_for(path).asked is Asked.FILE
    assert as_pattern(path) == path


@pytest.mark.parametrize(
    "path",
    [
        *("app.models.User", "os.path", "e.g", "User", "src/models.User", "load()", "a.py | b.py"),
        *("src/old.py → src/new.py", "src/old.py -> src/new.py", "@/components/a.ts"),
        *("src/a.py or src/b.py", "v1.2", "x" * 501 + "/ a.py", ""),
    ],
)
def test_what_names_no_file_demands_nothing(path: str) -> None:
    assert asked_for(path).asked is Asked.NOTHING


@pytest.mark.parametrize("path", ["*.md", "**", "<name>.md", "**/*.py", "*/*"])
def test_a_pattern_that_anything_matches_is_loose(path: str) -> None:
    assert asked_for(path).is_loose


def test_files_to_create_and_test_files_are_demanded_each_once() -> None:
    task = Task(
        id=TaskId("1"),
        title="A",
        files_to_create=("a.py", "tests/t.py::x"),
        files_to_modify=("b.py",),
        test_files=("tests/t.py::y",),
    )
    assert [found.path for found in required(task)] == ["a.py", "tests/t.py"]


@pytest.mark.parametrize(
    ("value", "files"),
    [
        ("src/a.py, src/b.py and c.md.", ("src/a.py", "src/b.py", "c.md")),
        ("(src/a.py), [src/b.py], **src/c.py**", ("src/a.py", "src/b.py", "src/c.py")),
        ("src/{m,n}.py, src/o.py", ("src/m.py", "src/n.py", "src/o.py")),
        ("docs/<name>.md", ("docs/<name>.md",)),
        ("src/*.py and src/**/x.ts", ("src/*.py", "src/**/x.ts")),
        ("src\\app\\a.py", ("src/app/a.py",)),
        ("C:\\app\\a.py", ("C:/app/a.py",)),
        ("test_a.py::test_x", ("test_a.py",)),
        ("src/a.py:10-20; src/b.py:3", ("src/a.py", "src/b.py")),
        ("src/a.py(new)", ("src/a.py",)),
        ("app/(auth)/page.tsx", ("app/(auth)/page.tsx",)),
        ("${name}.py", ("${name}.py",)),
        ("n/a", ()),
        ("the form)", ()),
        ("`src/{new,test}.py` (shared), `b.py`", ("src/new.py", "src/test.py", "b.py")),
        ("`pytest tests/test_a.py`", ()),
    ],
)
def test_paths_are_found_in_a_line(value: str, files: tuple[str, ...]) -> None:
    plan, _ = read_plan(f"### Task 1: A\n- Files: {value}\n### Task 2: B\n".encode())
    task = plan.tasks[0]
    assert set(task.files) == set(files)


def test_the_verbs_of_a_line_are_not_looked_for_inside_paths() -> None:
    plan, _ = read_plan(b"### Task 1: A\n- Files: create src\\new\\a.py, modify src/{test,b}.py\n")
    assert plan.tasks[0].files_to_create == ("src/new/a.py",)
    assert plan.tasks[0].files_to_modify == ("src/test.py", "src/b.py")


def test_paths_of_data_are_spelled_out_too() -> None:
    data = b'{"tasks": [{"id": 1, "title": "A", "files_to_create": ["src/{m,n}.py"]}]}'
    assert read_plan(data)[0].tasks[0].files_to_create == ("src/m.py", "src/n.py")
    gsd = b"<task><name>Task 1: A</name><files>src/{m,n}.py, o.py</files></task>"
    assert read_plan(gsd)[0].tasks[0].files == ("src/m.py", "src/n.py", "o.py")


def test_a_remark_behind_a_path_between_ticks_is_no_part_of_it() -> None:
    plan, _ = read_plan(
        b"### Task 1: A\n- Create: `src/a.py (new)`, `src/b.py, src/c.py`, `pytest tests/t.py`\n"
    )
    assert plan.tasks[0].files == ("src/a.py", "src/b.py", "src/c.py")


def found_in(*lines: str) -> list[tuple[str, Severity]]:
    text = "\n".join(["### Task 1: A", *lines])
    plan, diagnostics = read_plan(text.encode())
    compiled = compile_plan(plan, diagnostics, settings=PlanSettings(), mode=None)
    return [(each.code, each.severity) for each in compiled.diagnostics]


def test_what_is_unusual_about_demands_is_told() -> None:
    assert found_in("- Create: `src/XXXX_a.py`") == [("path-pattern", Severity.INFO)]
    assert found_in("- Create: `<name>.md`") == [("loose-pattern", Severity.WARNING)]
    assert found_in("- Create: `app.models.User`") == [("unclear-path", Severity.INFO)]
    assert found_in("- Create: `src/a.py`", "- Modify: `src/*.py`") == []
    assert found_in("- Create: `../<name>.md`") == [("path-outside-repository", Severity.ERROR)]
    assert found_in("- Create: `src/XXXX_a.py`", "- Status: done") == [("nothing-left", Severity.WARNING)]
