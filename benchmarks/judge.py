"""What the judge's tree and the wall cost; each figure is a ratio within one run of this program.

`python benchmarks/judge.py` measures and prints a table; `--write` puts it into docs/benchmarks/judge.md;
`--check` fails when a goal is missed; `--quick` takes a small suite, to see that everything works.

A repository with a suite of pytest has a plan whose units change code alone, code and a new test file, code
and a test file that was there. The plan runs once with the wall and once without it. What a check costs is
the time between the beginning and the end of a unit's verification.
"""

import argparse
import json
import os
import subprocess  # noqa: TID251 - the program that is measured
import sys
import tempfile
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from statistics import median

from run import Figure, git

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "judge.md"
SETTINGS = """\
tdd = "off"

[verify]
command = ["python", "-m", "pytest", "-q"]
"""
TEST = "import time\n\nfrom code_{n} import one\n\n\n"
CASE = "def test_{n}_{i}():\n    time.sleep(0.005)\n    assert one() == 1\n\n\n"
CASES = 25
KINDS = {"code": 3, "added": 3, "changed": 3}
TURN = """\
[[turn]]
role = "developer"
unit = "{unit}"
do = [{acts}]
report = {{ status = "completed", summary = "done" }}

"""
REVIEW = '[[turn]]\nrole = "reviewer"\nreport = { approved = true }\n'


def a_repository(place: Path, files: int) -> Path:
    """Makes a repository of so many modules, each with a file of 25 tests that take 5 ms each."""
    (place / "tests").mkdir(parents=True)
    for n in range(files):
        (place / f"code_{n}.py").write_text("def one():\n    return 1\n")
        cases = "".join(CASE.format(n=n, i=i) for i in range(CASES))
        (place / "tests" / f"test_{n}.py").write_text(TEST.format(n=n) + cases)
    (place / "conftest.py").write_text("")
    (place / "amelia.toml").write_text(SETTINGS)
    (place / ".gitignore").write_text("__pycache__/\n.pytest_cache/\n")
    git(place, "init", "-q", "-b", "main")
    git(place, "config", "user.name", "Bench")
    git(place, "config", "user.email", "bench@example.invalid")
    git(place, "add", "-A")
    git(place, "commit", "-qm", "start")
    return place


def a_story() -> tuple[list[str], str, str]:
    """Returns the kind of every unit, the plan, and what the developers do."""
    kinds = [kind for _ in range(max(KINDS.values())) for kind in KINDS]
    turns: list[str] = []
    for unit, kind in enumerate(kinds, 1):
        written = {f"code_{unit}.py": f"def one():\n    return 1\n\n\nUNIT = {unit}\n"}
        if kind == "added":
            written[f"tests/test_more_{unit}.py"] = f"def test_more_{unit}():\n    assert True\n"
        if kind == "changed":
            cases = "".join(CASE.format(n=unit, i=i) for i in range(CASES))
            written[f"tests/test_{unit}.py"] = TEST.format(n=unit) + cases + "# Checked again.\n"
        acts = ", ".join(
            f"{{ write = {json.dumps(path)}, text = {json.dumps(text)} }}" for path, text in written.items()
        )
        turns.append(TURN.format(unit=unit, acts=acts))
    plan = "# Many changes\n\n" + "".join(
        f"### Task {n}: Change module {n}\n- Type: impl\n- Files: modify code_{n}.py\n\nDo it.\n\n"
        for n in range(1, len(kinds) + 1)
    )
    return kinds, plan, "".join(turns) + REVIEW


def checks(place: Path, repository: Path, wall: str) -> dict[str, list[float]]:
    """Runs the plan, and returns how long the checks of the units took, by kind."""
    kinds, plan, moves = a_story()
    place.mkdir()
    (place / "plan.md").write_text(plan)
    (place / "moves.toml").write_text(moves)
    script = (
        "--driver",
        "script",
        "--script",
        str(place / "moves.toml"),
        "--mode",
        "tasks",
        "--json",
        "--yes",
    )
    done = subprocess.run(
        [sys.executable, "-m", "amelia", "run", str(place / "plan.md"), *script],
        cwd=repository,
        env={**os.environ, "AMELIA_HOME": str(place / "home"), "AMELIA_WALL__MODE": wall},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"the run ended with {done.returncode}: {done.stderr}\n{done.stdout[-2000:]}")
    begun: dict[str, datetime] = {}
    found: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for event in map(json.loads, done.stdout.splitlines()):
        at = datetime.fromisoformat(event["ts"])
        if event["type"] == "step_started" and event.get("step") == "verify":
            begun[event["unit"]] = at
        elif event["type"] == "attempt_verified":
            found[kinds[int(event["unit"]) - 1]].append((at - begun[event["unit"]]).total_seconds())
    # The first unit pays for the tree that all start from.
    found["code"] = found["code"][1:]
    return found


def measure(files: int) -> list[Figure]:
    with tempfile.TemporaryDirectory() as room:
        repository = a_repository(Path(room, "repository"), files)
        walled = checks(Path(room, "walled"), repository, "on")
        bare = checks(Path(room, "bare"), repository, "off")
    plain, size = median(bare["code"]), files * CASES

    def figure(what: str, seconds: float, goal: float) -> Figure:
        return Figure(what, seconds / plain, goal, f"{seconds:.2f} s against {plain:.2f} s")

    return [
        figure(
            f"checks of a unit behind the wall, {size} tests, no test touched", median(walled["code"]), 1.02
        ),
        figure("one test file added", median(bare["added"]), 1.15),
        figure("one test file changed", median(bare["changed"]), 1.15),
        figure("one test file added, behind the wall", median(walled["added"]), 1.15),
        figure("one test file changed, behind the wall", median(walled["changed"]), 1.15),
    ]


def page(figures: Sequence[Figure]) -> str:
    rows = "\n".join(figure.row() for figure in figures)
    return (
        "# The judge's tree and the wall\n\nMade by `benchmarks/judge.py --write`. Medians of the checks of "
        "units in two runs of one plan, with and without the wall, against those that touch no test, "
        f"without the wall.\n\n| what | measured | goal | |\n|---|---|---|---|\n{rows}\n"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    figures = measure(12 if options.quick else 40)
    print(page(figures))
    if options.write:
        PAGE.write_text(page(figures), encoding="utf-8")
    if options.check and any(one.goal is not None and one.measured > one.goal for one in figures):
        sys.exit("a goal is missed")


if __name__ == "__main__":
    main()
