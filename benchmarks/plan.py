"""What compiling plans costs: time and memory against size, start-up, and inputs meant to hurt.

`python benchmarks/plan.py` measures and prints a table; `--write` puts it into docs/benchmarks/plan.md;
`--check` fails when a goal is missed. Times are CPU seconds of this machine; read the ratios.
"""

import argparse
import resource
import subprocess  # noqa: TID251 - each case runs in a process of its own, to see its memory
import sys
import time
from pathlib import Path

from amelia.app.plans import compile_with
from amelia.config import load_settings

TASK = """\
### Task {n}: {verb} part {n} of the {area}

- Type: {type}
- Depends on: {needs}

**Files:**
- {role}: `src/{area}/part_{n}.py`
- Test: `tests/{area}/test_part_{n}.py`

- [ ] **Step 1: Write it down**

```python
# Task 0: a comment, not a task
def part_{n}() -> int:
    return {n}
```

Run `pytest tests/{area}` and see it pass; then look at what the parts before this one made of it.
{prose}
"""
PROSE = "The part keeps to the rules of its neighbours and says so in its first line. "
AREAS = ("store", "service", "view", "report", "import")
REPOSITORY = Path(__file__).parents[1]


def a_plan(tasks: int) -> bytes:
    """Writes a plan of test and implementation pairs, about 500 bytes a task."""
    parts = ["# A large plan\n\n"]
    for n in range(1, tasks + 1):
        is_test = n % 2 == 1
        parts.append(
            TASK.format(
                n=n,
                area=AREAS[n // 2 % len(AREAS)],
                verb="Test" if is_test else "Build",
                type="test" if is_test else "impl",
                needs="none" if is_test else f"Task {n - 1}",
                role="Create" if is_test else "Modify",
                prose=PROSE * (n % 3),
            )
        )
    return "".join(parts).encode()


PATHOLOGICAL = {
    "100,000 headings": lambda: "### Task 1: a\n" * 100_000,
    "1 MB on one line": lambda: "### Task 1: " + "a [b](c) `d` **e** " * 55_000,
    "100,000 quote marks": lambda: ">" * 100_000,
    "100,000 nested items": lambda: "- " * 100_000,
    "100,000 open brackets": lambda: "[" * 100_000,
    "50,000 open fences": lambda: "```python\n### Task 1: a\n" * 50_000,
    "100,000 spaces in a heading": lambda: "### Task 1: a" + " " * 100_000 + "b",
    "50,000 letters as a file": lambda: "### Task 1: a\n- Files: " + "a" * 50_000,
    "50,000 spaces in a dependency": lambda: "### Task 1: a\n- Depends on: 1" + " " * 50_000 + "x",
    "50,000 dashes in a title": lambda: "### Task 1: a" + "-" * 50_000 + "b",
    "50,000 parentheses in a box": lambda: "- [ ] T001 " + "(" * 50_000 + "\n- [ ] T002 b",
    "15,000 tasks that need a phase of as many": lambda: (
        "## Phase 1\n"
        + "".join(f"### Task {n}: a\n" for n in range(15_000))
        + "## Phase 2\n"
        + "".join(f"### Task {n}: a\n- Depends on: Phase 1\n" for n in range(15_000, 30_000))
    ),
    "80,000 empty fields": lambda: "### Task 1: a\n" + "  Criteria:\n" * 80_000,
    "100,000 XML tasks": lambda: "<task>\n" * 100_000,
    "chain of 30,000 tasks": lambda: "".join(
        f"### Task {n}: a\n- Depends on: {n - 1}\n" for n in range(1, 30_000)
    ),
    "YAML that doubles 60 times": lambda: (
        "---\na: &k0 [x]\n"
        + "".join(f"b{n}: &k{n} [*k{n - 1}, *k{n - 1}]\n" for n in range(1, 60))
        + "name: *k59\n---\n"
    ),
}


def compile_cost(data: bytes) -> tuple[float, int, float]:
    """Returns CPU seconds, the number of tasks, and the peak memory of this process in MB."""
    start = time.process_time()
    compiled = compile_with(data, load_settings(REPOSITORY).plan)
    seconds = time.process_time() - start
    return seconds, len(compiled.plan.tasks), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(case: str) -> tuple[float, int, float]:
    """Runs one case in a fresh process."""
    done = subprocess.run(
        [sys.executable, __file__, "--case", case], capture_output=True, text=True, check=True
    )
    seconds, tasks, memory = done.stdout.split()
    return float(seconds), int(tasks), float(memory)


def run_case(case: str) -> None:
    data = a_plan(int(case)) if case.isdigit() else PATHOLOGICAL[case]().encode()
    print(*compile_cost(data))


def help_cost() -> float:
    """Returns the CPU milliseconds of `amelia --help`, the median of nine."""
    costs: list[float] = []
    for _ in range(9):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "amelia", "--help"], capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        costs.append(after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)
    return sorted(costs)[4] * 1000


def best(case: str) -> tuple[float, int, float]:
    return min(measure(case) for _ in range(3))


def report() -> tuple[str, list[str]]:
    """Measures everything; returns the page and the goals that were missed."""
    small, large = best("1000"), best("10000")
    ratio = large[0] / small[0]
    worst = {name: measure(name) for name in PATHOLOGICAL}
    slowest = max(worst, key=lambda name: worst[name][0])
    start = help_cost()
    goals = [
        ("10,000 tasks, CPU seconds", large[0], 2.0),
        ("10,000 tasks against 1,000 (times)", ratio, 12.0),
        ("10,000 tasks, peak memory in MB", large[2], 300.0),
        (f"slowest hostile input ({slowest}), CPU seconds", worst[slowest][0], 10.0),
        ("`amelia --help`, CPU milliseconds", start, 100.0),
    ]
    lines = ["| what | measured | goal |", "|---|---|---|"]
    lines += [f"| {name} | {value:.3g} | ≤ {goal:g} |" for name, value, goal in goals]
    lines += ["", "| hostile input | CPU seconds | peak MB | tasks read |", "|---|---|---|---|"]
    lines += [f"| {name} | {cost[0]:.2f} | {cost[2]:.0f} | {cost[1]} |" for name, cost in worst.items()]
    missed = [f"{name}: {value:.3g} > {goal:g}" for name, value, goal in goals if value > goal]
    return "\n".join(lines) + "\n", missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", help=argparse.SUPPRESS)
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks/plan.md")
    parser.add_argument("--check", action="store_true", help="exit 1 when a goal is missed")
    arguments = parser.parse_args()
    if arguments.case:
        run_case(arguments.case)
        return 0
    table, missed = report()
    print(table)
    for line in missed:
        print(f"missed: {line}")
    if arguments.write:
        size = len(a_plan(10_000)) / 1e6
        made = f"Made by `benchmarks/plan.py --write`; the large plan has {size:.1f} MB."
        page = f"# Compiling plans\n\n{made}\n\n{table}"
        (REPOSITORY / "docs" / "benchmarks" / "plan.md").write_text(page, encoding="utf-8")
    return 1 if arguments.check and missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
