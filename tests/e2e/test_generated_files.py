"""What tools leave behind does not land where nobody told git to ignore it, and what was left out is told."""

import sys
from pathlib import Path

import pytest

from stories import APPROVED, OK, Act, Stage, develops, make_stage, tasks, writes

pytestmark = pytest.mark.slow

PLAIN = {"README.md": "# Sample\n", "check.sh": "test ! -e broken\n"}
SETTINGS = '[verify]\ncommand = ["sh", "check.sh"]\n'
GENERATED = [
    *("__pycache__/a.cpython-311.pyc", "pkg/__pycache__/b.pyc", "loose.pyc", ".pytest_cache/v/x"),
    *(".mypy_cache/3.11/x.json", ".ruff_cache/x", ".hypothesis/x", "pkg.egg-info/PKG-INFO", ".tox/x"),
    *(".venv/bin/python", "node_modules/left-pad/index.js", "web/node_modules/x.js", "crate/target/app"),
    *(".DS_Store", "sub/.DS_Store", ".coverage", ".coverage.host.1", "htmlcov/index.html", "Main.class"),
    *(".notes.txt.swp", "notes.txt~", ".next/x", ".gradle/x", "main.o", ".terraform/x"),
]

WORK = ["a.py", "pkg/b.py", "crate/Cargo.toml", "target/audience.py"]


def acts(*names: str) -> list[Act]:
    return [{"write": name, "text": "x\n"} for name in names]


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return make_stage(tmp_path, {**PLAIN, "amelia.toml": SETTINGS})


def landed(stage: Stage) -> list[str]:
    """Returns what is on the branch and was not there before."""
    return sorted(set(stage.files()) - {*PLAIN, "amelia.toml"})


def notes(stage: Stage) -> list[str]:
    events = stage.amelia("log", stage.name, "--json").of_type("attempt_verified")
    return [note for event in events for note in event.get("notes", ()) if "generate" in note]


def test_what_tools_leave_behind_does_not_land_and_is_told(stage: Stage) -> None:
    done = stage.run(tasks("One"), develops("1", *acts(*WORK, *GENERATED)), APPROVED)
    assert done.outcome == "completed"
    assert landed(stage) == sorted(WORK)
    shown = stage.prompt("1", 1, "reviewer")
    assert "+++ b/a.py" in shown
    assert not [name for name in GENERATED if f"+++ b/{name}" in shown]
    (note,) = notes(stage)
    assert ".DS_Store" in note
    assert f"and {len(GENERATED) - 5} more" in note
    assert "not landed" in stage.amelia("log", stage.name).out
    assert ".DS_Store" in stage.amelia("report", stage.name).out


def test_bytecode_that_an_agent_really_makes_does_not_land(stage: Stage) -> None:
    runs = {"run": f"'{sys.executable}' -m compileall -q ."}
    assert stage.run(tasks("One"), develops("1", *acts("a.py"), runs), APPROVED).outcome == "completed"
    assert landed(stage) == ["a.py"]


def test_nothing_is_told_where_the_repository_ignores_it_or_there_is_nothing(tmp_path: Path) -> None:
    ignores = {**PLAIN, "amelia.toml": SETTINGS, ".gitignore": "__pycache__/\n"}
    stage = make_stage(tmp_path, ignores)
    stage.repo.git("config", "core.excludesFile", str(stage.room / "mine"))
    (stage.room / "mine").write_text(".mypy_cache/\n")
    (stage.repo.path / ".git" / "info").mkdir(exist_ok=True)
    (stage.repo.path / ".git" / "info" / "exclude").write_text("node_modules/\n")
    (stage.room / ".config" / "git").mkdir(parents=True)
    made = acts("a.py", "__pycache__/a.pyc", ".mypy_cache/x", "node_modules/x")
    assert stage.run(tasks("One"), develops("1", *made), APPROVED).outcome == "completed"
    assert notes(stage) == []


def test_work_that_is_nothing_but_generated_files_is_no_change(stage: Stage) -> None:
    done = stage.run(tasks("One"), develops("1", *acts("__pycache__/a.pyc", ".coverage")), APPROVED)
    assert done.outcome == "halted(no_changes)"
    again = stage.prompt("1", 2) if stage.turns("1", 2) else stage.amelia("status", stage.name).out
    assert "__pycache__/" in again


def test_what_is_tracked_already_lands_as_ever(tmp_path: Path) -> None:
    tracked = {
        "node_modules/own/a.js": "1\n",
        "target/spec.json": "1\n",
        "lib/x.pyc": "1\n",
        ".coverage": "1\n",
    }
    stage = make_stage(tmp_path, {**PLAIN, "amelia.toml": SETTINGS, **tracked})
    new = ["node_modules/own/b.js", "target/more.json"]
    left = ["lib/node_modules/x.js", "lib/y.pyc", "node_modules/own/c.pyc"]
    changed = [{"write": name, "text": "2\n"} for name in tracked]
    done = stage.run(tasks("One"), develops("1", *changed, *acts(*new, *left)), APPROVED)
    assert done.outcome == "completed"
    assert landed(stage) == sorted([*tracked, *new])
    assert {stage.show(name) for name in tracked} == {"2"}


def test_what_a_task_declares_lands_as_ever(stage: Stage) -> None:
    declared = [
        "target/spec.json",
        "fixtures/__pycache__/old.pyc",
        "node_modules/own/deep/a.js",
        "data/.coverage",
    ]
    plan = f"# Fixtures\n\n### Task 1: Add them\n- Files: create {', '.join(declared)}\n\n### Task 2: More\nDo it.\n"
    left = [
        "node_modules/other/b.js",
        "node_modules/own/c.js",
        "fixtures/__pycache__/new.pyc",
        "a/target.pyc",
    ]
    done = stage.run(plan, develops("1", *acts(*declared, *left)), writes("2", "b"), APPROVED)
    assert done.outcome == "completed", done.out
    assert landed(stage) == sorted([*declared, "b"])


def test_names_that_may_be_anything_are_left_out_only_where_something_shows_what_they_are(
    stage: Stage,
) -> None:
    sources = [
        "src/target/mod.rs",
        "build/rules.mk",
        "dist/readme",
        "bin/tool",
        "env/prod.toml",
        "src/obj/o.c",
    ]
    made = [
        *("crate/target/debug/x", "app/build/libs/x.jar", "net/bin/x.dll", "net/obj/x.cs", "cm/out/x"),
        *("venv/lib/x.py", "somewhere/cache/x", "ex/_build/x", "ex/deps/y"),
    ]
    signs = {
        "venv/pyvenv.cfg": "home = /usr/bin\n",
        "cm/out/CMakeCache.txt": "# cache\n",
        "somewhere/cache/CACHEDIR.TAG": "Signature: 8a477f597d28d172789f06886806bc55\n",
    }
    manifests = ["crate/Cargo.toml", "app/build.gradle", "net/App.csproj", "ex/mix.exs"]
    turn = develops("1", *acts(*sources, *made, *manifests))
    turn["do"] += [{"write": name, "text": text} for name, text in signs.items()]
    done = stage.run(tasks("One"), turn, APPROVED)
    assert done.outcome == "completed"
    assert landed(stage) == sorted([*sources, *manifests])


def test_a_later_unit_and_a_second_attempt_start_without_them(stage: Stage) -> None:
    stage.repo.commit(
        {"check.sh": "test ! -e broken && test ! -e __pycache__ && test ! -e target\n", "pom.xml": "x\n"}
    )
    first = develops("1", *acts("broken", "__pycache__/a.pyc", "target/x"), attempt=1)
    second = develops("1", {"delete": "broken"}, *acts("a"), attempt=2)
    third = develops("2", *acts("b", ".pytest_cache/x"))
    done = stage.run(tasks("One", "Two"), first, second, third, APPROVED)
    assert done.outcome == "completed"
    assert landed(stage) == ["a", "b", "pom.xml"]
    events = stage.amelia("log", stage.name, "--json").of_type("attempt_ended")
    assert [sorted(event["work"].get("left_out", [])) for event in events] == [
        ["__pycache__/", "target/"],
        ["__pycache__/", "target/"],
        [".pytest_cache/"],
    ]


def test_a_review_on_its_own_does_not_show_them(stage: Stage) -> None:
    stage.repo.write(
        dict.fromkeys(("mine.py", "__pycache__/a.pyc", "crate/Cargo.toml", "crate/target/x"), "x\n")
    )
    done = stage.amelia("review", "--script", stage.play(APPROVED))
    assert done.code == 0
    (place,) = (stage.home / "reviews").glob("*/transcripts/review/1-reviewer.jsonl")
    prompt = place.read_text()
    assert "+++ b/mine.py" in prompt
    assert "+++ b/crate/Cargo.toml" in prompt
    assert "+++ b/__pycache__" not in prompt
    assert "+++ b/crate/target" not in prompt
    assert "not reviewed" in done.err
    assert "crate/target/" in done.err


def test_what_a_person_leaves_behind_in_a_repair_does_not_land_either(stage: Stage) -> None:
    stage.run(tasks("One"), develops("1", *acts("broken"), report=OK), APPROVED)
    place = Path(stage.amelia("fix", stage.name, "1").out.strip())
    (place / "broken").rename(place / "mended")
    (place / "__pycache__").mkdir()
    (place / "__pycache__" / "x.pyc").write_bytes(b"x")
    assert stage.amelia("fix", stage.name, "1", "--done").code == 0
    assert stage.amelia("resume", stage.name, "--json").code == 0
    assert landed(stage) == ["mended"]
    assert any("__pycache__/" in note for note in notes(stage))
