"""`amelia check` as a user runs it: the installed program, files, exit codes, output."""

import hashlib
import json
import os
import shutil
import subprocess  # noqa: TID251 - the test is the user who starts the program
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from inline_snapshot import snapshot

PLAN = """\
# Blog

### Task 1a: Write User tests
- Type: test
- Files: create tests/test_user.py
### Task 1b: Write Post tests
- Type: test
- Files: create tests/test_post.py
### Task 2a: Implement User
- Type: impl
- Depends on: 1a
- Files: create src/user.py
### Task 2b: Implement Post
- Type: impl
- Depends on: 1b
- Files: create src/post.py
"""

COVERAGE = {key: value for key, value in os.environ.items() if key.startswith("COVERAGE")}


def amelia(
    *arguments: str | Path, cwd: Path, stdin: bytes = b"", **env: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "amelia", *map(str, arguments)],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        check=False,
        timeout=60,
        env={**COVERAGE, "PATH": os.environ["PATH"], "PYTHONIOENCODING": "utf-8", "HOME": str(cwd), **env},
    )


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    path = tmp_path / "plan.md"
    path.write_text(PLAN)
    return path


def as_json(done: subprocess.CompletedProcess[bytes]) -> Any:
    return json.loads(done.stdout)


@pytest.mark.rows("T16", "R27")
def test_a_plan_is_shown_as_a_tree(plan: Path) -> None:
    done = amelia("check", "plan.md", cwd=plan.parent)
    assert done.returncode == 0
    assert done.stderr == b""
    assert done.stdout.decode() == snapshot("""\
plan.md: 4 tasks, 2 units
goal  Blog
mode  phased: The tasks declare types and dependencies, so they run in phases.

   id type task                 size          waits for
phase-1
├─ 1a test Write User tests      1.0 low
└─ 1b test Write Post tests      1.0 low
phase-2  after phase-1
├─ 2a impl Implement User        1.0 low      ← 1a
└─ 2b impl Implement Post        1.0 low      ← 1b

this plan can run
""")


@pytest.mark.rows("D1", "R27")
def test_json_is_one_object_with_the_promised_keys(plan: Path) -> None:
    data = as_json(amelia("check", plan, "--json", cwd=plan.parent))
    assert {"format", "hash", "goal", "mode", "tasks", "units", "milestones", "diagnostics"} <= data.keys()
    assert data["goal"] == "Blog"
    assert data["mode"] == "phased"
    assert data["tasks"][2] == snapshot(
        {
            "id": "2a",
            "title": "Implement User",
            "type": "impl",
            "status": "pending",
            "line": 9,
            "end_line": 12,
            "depends_on": ["1a"],
            "independent": False,
            "files_to_create": ["src/user.py"],
            "files_to_modify": [],
            "test_files": [],
            "acceptance_criteria": [],
            "demands": [{"path": "src/user.py", "kind": "file", "pattern": "src/user.py"}],
            "user_story": "",
            "milestone": None,
            "priority": "medium",
            "phase": None,
            "parallel": False,
            "complexity": {
                "total": 1.0,
                "level": "low",
                "action": "safe for autonomous execution",
                "file_scope": 0.5,
                "cross_file_deps": 0.0,
                "semantic_complexity": 0.0,
                "requirement_uncertainty": 0.5,
                "token_penalty": 0.0,
            },
        }
    )
    assert data["units"][1] == snapshot(
        {
            "id": "phase-2",
            "title": "Implement User, Implement Post",
            "tasks": ["2a", "2b"],
            "depends_on": ["phase-1"],
            "group": 2,
            "pieces": [],
        }
    )


def test_a_task_names_its_milestone_by_id_also_when_it_is_split(tmp_path: Path) -> None:
    files = ", ".join(
        f"`{folder}/{name}.py`" for folder in ("models", "services", "views") for name in "abcd"
    )
    text = f"## Milestone 2: Core\n### Task 1: async cache\n- Create: {files}\n- Acceptance: works\n### Task 2: b\n"
    data = as_json(amelia("check", "-", "--mode", "lifecycle", "--json", cwd=tmp_path, stdin=text.encode()))
    assert [task["milestone"] for task in data["tasks"]] == ["M2", "M2"]
    assert len(data["units"]) > 2
    assert data["milestones"][0]["id"] == "M2"


@pytest.mark.rows("L5", "L6", "L9")
def test_limits_of_the_project_warn_and_keep_a_task_whole_if_they_say_so(tmp_path: Path) -> None:
    files = ", ".join(f"`{folder}/{name}.py`" for folder in ("models", "services", "views") for name in "ab")
    text = f"### Task 1: async cache, somehow\n- Create: {files}\n- Acceptance: works\n".encode()

    def checked() -> tuple[int, set[str]]:
        data = as_json(amelia("check", "-", "--mode", "lifecycle", "--json", cwd=tmp_path, stdin=text))
        assert data["tasks"][0]["complexity"]["action"] == "requires monitoring"
        return len(data["units"]), {found["code"] for found in data["diagnostics"]}

    assert checked() == (3, {"many-files-to-create", "high-complexity", "split"})
    limits = {"max_files_to_create": 6, "auto_split": False}
    (tmp_path / ".project-config.json").write_text(json.dumps({"task_size_limits": limits}))
    assert checked() == (1, {"high-complexity"})


def test_the_hash_is_that_of_the_file(plan: Path) -> None:
    data = as_json(amelia("check", plan, "--json", cwd=plan.parent))
    assert data["hash"] == hashlib.sha256(plan.read_bytes()).hexdigest()


def test_a_dash_reads_standard_input(tmp_path: Path) -> None:
    done = amelia("check", "-", "--json", cwd=tmp_path, stdin=PLAN.encode())
    assert done.returncode == 0
    assert len(as_json(done)["tasks"]) == 4


@pytest.mark.rows("P2")
def test_a_section_is_printed_exactly(tmp_path: Path) -> None:
    path = tmp_path / "plan.md"
    path.write_bytes(b"### Task 1: A\r\n\r\ntext\t \r\n\r\n### Task 2: B\n")
    done = amelia("check", path, "--section", "1", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stdout == b"### Task 1: A\r\n\r\ntext\t \r\n"


def test_an_unknown_section_is_wrong_usage_and_says_what_there_is(plan: Path) -> None:
    done = amelia("check", plan, "--section", "1c", cwd=plan.parent)
    assert done.returncode == 2
    assert done.stdout == b""
    assert b"no task '1c': did you mean 1b?" in done.stderr


@pytest.mark.parametrize("kind", ["mermaid", "dot"])
def test_the_graph_is_drawn(plan: Path, kind: str) -> None:
    done = amelia("check", plan, "--graph", kind, cwd=plan.parent)
    assert done.returncode == 0
    text = done.stdout.decode()
    assert text.startswith("flowchart LR" if kind == "mermaid" else "digraph plan {")
    assert ("u1 --> u2" if kind == "mermaid" else '"phase-1" -> "phase-2"') in text


def test_a_graph_of_a_bad_plan_says_beside_it_why_the_plan_cannot_run(tmp_path: Path) -> None:
    done = amelia("check", "-", "--graph", "dot", cwd=tmp_path, stdin=b"### Task 1: A\n- Depends on: 1\n")
    assert done.returncode == 5
    assert done.stdout.startswith(b"digraph")
    assert b"error[self-dependency]" in done.stderr


@pytest.mark.parametrize("mode", ["single", "tasks", "phased", "lifecycle"])
def test_a_mode_can_be_asked_for(plan: Path, mode: str) -> None:
    data = as_json(amelia("check", plan, "--mode", mode, "--json", cwd=plan.parent))
    assert data["mode"] == mode
    assert [unit["id"] for unit in data["units"]] == {
        "single": ["plan"],
        "tasks": ["1a", "1b", "2a", "2b"],
        "phased": ["phase-1", "phase-2"],
        "lifecycle": ["1a", "1b", "2a", "2b"],
    }[mode]


@pytest.mark.rows("L12")
def test_a_bad_plan_exits_5_and_says_all_that_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "plan.md"
    path.write_text(
        "### Task 1: A\n- Depends on: 2\n### Task 2: B\n- Depends on: 1, 9\n- Files: modify ../x\n"
    )
    done = amelia("check", "plan.md", cwd=tmp_path)
    assert done.returncode == 5
    assert done.stdout.decode() == snapshot("""\
plan.md: 2 tasks, 0 units
mode  phased: The tasks declare dependencies, so they run in phases.

   id task                 size          waits for
├─ 1  A                     0.0 low      ← 2
└─ 2  B                     1.0 low      ← 1, 9

plan.md:1: error[dependency-cycle] Tasks wait for each other: 1 → 2 → 1.
    hint: Remove one of these dependencies.
plan.md:3: error[unknown-dependency] Task '2' depends on '9', which does not exist.
    hint: Write the id of a task of this plan.
plan.md:3: error[path-outside-repository] Task '2': the path '../x' leads out of the repository.
    hint: Write the path relative to the top of the repository.
3 errors: this plan cannot run as it is
""")


def test_what_will_be_demanded_is_told_where_it_is_unusual(tmp_path: Path) -> None:
    text = "### Task 1: A\n- Create: `migrations/XXXX_add.py`, `app.models.User`, `src/{m,n}.py`\n"
    done = amelia("check", "-", cwd=tmp_path, stdin=text.encode())
    assert done.returncode == 0
    assert "at least one file has to match 'migrations/*_add.py'" in done.stdout.decode()
    assert "'app.models.User' names no file that could be looked for" in done.stdout.decode()
    data = as_json(amelia("check", "-", "--json", cwd=tmp_path, stdin=text.encode()))
    assert [(each["path"], each["kind"]) for each in data["tasks"][0]["demands"]] == [
        ("migrations/XXXX_add.py", "pattern"),
        ("app.models.User", "nothing"),
        ("src/m.py", "file"),
        ("src/n.py", "file"),
    ]


PRODUCT = """\
# Product
## Acceptance criteria
- [x] AC-1: Readers can sign out
- [ ] AC-2: Readers can sign up
- [ ] AC-3: Prices are shown
- [ ] AC-4: Carts survive
"""


@pytest.mark.rows("L13")
@pytest.mark.parametrize(
    "said", ["---\nproduct: PRODUCT.md\n---\n# Sign up\n", "# Sign up\n\nSee [it](PRODUCT.md).\n"]
)
def test_a_plan_that_refers_to_the_product_is_checked_against_it(tmp_path: Path, said: str) -> None:
    (tmp_path / "PRODUCT.md").write_text(PRODUCT)
    text = f"{said}\n### Task 1: Form\n- Acceptance criteria:\n  - AC-9: it is there\n"
    data = as_json(amelia("check", "-", "--json", cwd=tmp_path, stdin=text.encode()))
    assert data["product"] == "PRODUCT.md"
    assert [(found["code"], found["message"]) for found in data["diagnostics"]] == [
        ("product-criterion", "No task has the product's criterion AC-2: Readers can sign up."),
        ("unknown-criterion", "Task '1' names AC-9, which PRODUCT.md does not have."),
    ]
    done = text.replace("AC-9: it is there", "AC-2")
    assert as_json(amelia("check", "-", "--json", cwd=tmp_path, stdin=done.encode()))["diagnostics"] == []


def test_a_product_that_is_not_there_is_told(tmp_path: Path) -> None:
    text = b"# A\n\nFor docs/PRODUCT.md.\n\n### Task 1: Form\n"
    data = as_json(amelia("check", "-", "--json", cwd=tmp_path, stdin=text))
    assert [found["code"] for found in data["diagnostics"]] == ["no-product"]


def test_a_half_finished_plan_shows_what_is_done_and_what_is_left(tmp_path: Path) -> None:
    done = amelia("check", "-", cwd=tmp_path, stdin=b"## Phase 1: Base\n- [x] T001 A\n- [ ] T002 B\n")
    assert done.returncode == 0
    assert done.stdout.decode() == snapshot("""\
standard input: 2 tasks (1 done), 1 unit
mode  phased: The tasks declare phases, so they run in phases.

   id   task                 size          waits for
done or left out
└─ T001 ✓ A                   0.0 low
phase-1  Phase 1: Base
└─ T002 B                     0.0 low

this plan can run
""")


def test_a_finished_plan_can_run_and_says_that_nothing_is_left(tmp_path: Path) -> None:
    done = amelia("check", "-", cwd=tmp_path, stdin=b"- [x] T001 A\n- [x] T002 B\n")
    assert done.returncode == 0
    assert b"nothing-left" in done.stdout


def test_tasks_stand_below_their_phases_also_when_each_runs_alone(tmp_path: Path) -> None:
    text = (
        b"## Phase 1: Base\n### Task 1: A\n## Phase 2: Top\n### Task 2: B\n### Task 3: C\n- Depends on: 2\n"
    )
    done = amelia("check", "-", "--mode", "lifecycle", cwd=tmp_path, stdin=text)
    assert done.stdout.decode() == snapshot("""\
standard input: 3 tasks, 3 units
mode  lifecycle: Mode 'lifecycle' was asked for.

   id task                 size          waits for
Phase 1: Base
└─ 1  A                     0.0 low
Phase 2: Top
├─ 2  B                     0.0 low      ← 1
└─ 3  C                     0.0 low      ← 2

this plan can run
""")


def test_of_many_findings_of_a_kind_the_first_are_shown(tmp_path: Path) -> None:
    text = "".join(f"### Task {n}: {'long ' * 20}\n" for n in range(9))
    done = amelia("check", "-", cwd=tmp_path, stdin=text.encode())
    assert done.stdout.decode().count("warning[long-title]") == 5
    assert "… and 4 more of long-title (--json lists all)" in done.stdout.decode()


def test_commands_can_be_completed_by_the_shell(tmp_path: Path) -> None:
    done = amelia(cwd=tmp_path, _AMELIA_COMPLETE="bash_complete", COMP_WORDS="amelia ch", COMP_CWORD="1")
    assert done.stdout.split() == [b"plain,check"]


@pytest.mark.parametrize("data", [b"", b"\0\1\2", b'{"a": 1}'])
def test_what_is_no_plan_exits_5_also_with_json(tmp_path: Path, data: bytes) -> None:
    done = amelia("check", "-", "--json", cwd=tmp_path, stdin=data)
    assert done.returncode == 5
    assert as_json(done)["tasks"] == []
    assert as_json(done)["diagnostics"][0]["severity"] == "error"


@pytest.mark.parametrize(
    "arguments",
    [
        ["check"],
        ["check", "missing.md"],
        ["check", "plan.md", "--mode", "wild"],
        ["check", "plan.md", "--json", "--graph", "dot"],
        ["chekc", "plan.md"],
    ],
)
def test_wrong_usage_exits_2_without_a_traceback(plan: Path, arguments: list[str]) -> None:
    done = amelia(*arguments, cwd=plan.parent)
    assert done.returncode == 2
    assert done.stdout == b""
    assert b"Traceback" not in done.stderr


def test_a_wrong_setting_exits_3_and_names_it(plan: Path) -> None:
    (plan.parent / "amelia.toml").write_text('tdd = "strict"\nmax_files = 3\n')
    done = amelia("check", plan, cwd=plan.parent)
    assert done.returncode == 3
    assert b"amelia.toml: unknown key max_files" in done.stderr
    assert b"hint: known keys: " in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_terminal_without_unicode_gets_ascii(plan: Path) -> None:
    done = amelia("check", plan, cwd=plan.parent, PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert done.stdout.isascii()


def test_no_color_is_honoured(plan: Path) -> None:
    command = ["script", "-qec", f"{sys.executable} -m amelia check plan.md", "/dev/null"]
    if shutil.which("script") is None:
        pytest.skip("needs script(1) for a terminal")
    for value, coloured in (("", True), ("1", False)):
        env = {**COVERAGE, "PATH": os.environ["PATH"], "NO_COLOR": value, "TERM": "xterm"}
        done = subprocess.run(command, cwd=plan.parent, capture_output=True, check=True, env=env, timeout=60)
        assert b"4 tasks, 2 units" in done.stdout
        assert (b"\x1b[" in done.stdout) is coloured


def test_control_characters_of_a_plan_do_not_reach_the_terminal(tmp_path: Path) -> None:
    done = amelia("check", "-", cwd=tmp_path, stdin="### Task 1: a\x1b[31mred\x07 \u202egnp\n".encode())
    assert b"\x1b" not in done.stdout
    assert b"\x07" not in done.stdout
    assert "\u202e" not in done.stdout.decode()


def test_help_imports_next_to_nothing(tmp_path: Path) -> None:
    program = """
import runpy, sys
sys.argv = ["amelia", "--help"]
try:
    runpy.run_module("amelia", run_name="__main__")
except SystemExit:
    print(*sorted(name for name in sys.modules if name.startswith(("amelia.", "yaml", "pyromark"))))
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, check=True)
    loaded = done.stdout.decode().splitlines()[-1].split()
    assert loaded == [
        "amelia.model",
        "amelia.model.errors",
        "amelia.show",
        "amelia.show.cli",
        "amelia.show.output",
        "amelia.show.text",
    ]


def test_the_version_is_the_packages(tmp_path: Path) -> None:
    done = amelia("--version", cwd=tmp_path)
    assert done.stdout.decode().split() == ["amelia,", "version", version("amelia-orchestrator")]


HOSTILE = b'### Task 1: a"]; x{} [b] \x1b[31m\n- Depends on: 9\x1b[32m\n'


def test_titles_cannot_break_out_of_a_diagram(tmp_path: Path) -> None:
    mermaid = amelia("check", "-", "--graph", "mermaid", cwd=tmp_path, stdin=HOSTILE).stdout.decode()
    assert mermaid.splitlines()[1] == '  u1["1: a#34;#93;#59; x#123;#125; #91;b#93; #91;31m"]'
    dot = amelia("check", "-", "--graph", "dot", cwd=tmp_path, stdin=HOSTILE).stdout.decode()
    assert 'label="1: a\\"]; x{} [b] [31m"' in dot


def test_nothing_of_a_plan_controls_the_terminal(tmp_path: Path) -> None:
    text = "# Goal \x1b[31m\n## Phase 1: \x1b[32m\n### Task 1: a\n- Files: modify ../\x1b[33m.py\n"
    done = amelia("check", "-", "--mode", "lifecycle", cwd=tmp_path, stdin=text.encode())
    assert b"\x1b" not in done.stdout


def test_a_section_is_found_in_any_case_but_the_exact_one_first(tmp_path: Path) -> None:
    text = b"### Task 1a: x\n### Task 1A: y\n### Task B: z\n"
    assert amelia("check", "-", "--section", "1A", cwd=tmp_path, stdin=text).stdout == b"### Task 1A: y\n"
    assert amelia("check", "-", "--section", "b", cwd=tmp_path, stdin=text).stdout == b"### Task B: z\n"


def test_a_section_of_what_is_no_plan_exits_5(tmp_path: Path) -> None:
    assert amelia("check", "-", "--section", "1", cwd=tmp_path).returncode == 5


@pytest.mark.parametrize("options", [[], ["--json"], ["--section", "1a"], ["--graph", "dot"]])
def test_a_full_or_closed_output_is_no_traceback(plan: Path, options: list[str]) -> None:
    command = [sys.executable, "-m", "amelia", "check", "plan.md", *options]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            command, cwd=plan.parent, stdout=full, stderr=subprocess.PIPE, check=False, timeout=60
        )
    assert b"Traceback" not in done.stderr
    closed = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *command],
        cwd=plan.parent,
        stderr=subprocess.PIPE,
        check=False,
        timeout=60,
    )
    assert b"Traceback" not in closed.stderr
