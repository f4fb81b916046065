"""The run that is killed: five units, two of them side by side, with two retries and a merge.

The left side is sent back by the reviewer and lands after the right side, on a tip that has moved. The roof
fails its checks once.
"""

from crash.story import Hanging, Story

FILES = {
    "README.md": "# A house\n",
    # Of two checks at a time only one can remove the file, and hangs.
    "check.sh": "if rm $TMPDIR/hang 2>/dev/null; then trap '' TERM; sleep 600; fi\ntest ! -e broken.txt\n",
    "amelia.toml": '[verify]\ncommand = ["sh", "check.sh"]\n',
}
PLAN = """\
# A house

**Goal:** Build a small house

## Phase 1: Ground

### Task 1: Lay the ground
- **Type:** chore
- Create: `ground.txt`

## Phase 2: Left

### Task 2: Build the left wall
- **Type:** chore
- **Depends on:** Task 1
- Create: `left/wall.txt`

### Task 3: Cut a window into it
- **Type:** chore
- **Depends on:** Task 2
- Create: `left/window.txt`

## Phase 3: Right

### Task 4: Build the right wall
- **Type:** chore
- **Depends on:** Task 1
- Create: `right.txt`

## Phase 4: Roof

### Task 5: Put the roof on
- **Type:** chore
- **Depends on:** Task 3, Task 4
- Create: `roof.txt`

## Phase 5: Paint

### Task 6: Paint it
- **Type:** docs
- **Depends on:** Task 5
- Create: `paint.txt`
- Modify: `ground.txt`
"""
# Something that outlives the turn in which an agent started it, unless somebody sees to that.
STRAY = '{run="setsid sleep 600 >/dev/null 2>&1 &"}'
# What the developer does, by unit and attempt; each turn is noted when it begins.
WORK = {
    ("phase-1", 1): '{write="ground.txt", text="ground\\n"}',
    ("phase-2", 1): '{write="left/wall.txt", text="thin\\n"}, {write="left/window.txt", text="glass\\n"}',
    ("phase-2", 2): '{write="left/wall.txt", text="thick\\n"}, {write="left/window.txt", text="glass\\n"}',
    ("phase-3", 1): STRAY + ', {write="right.txt", text="wall\\n"}, {run="%(hang)s"}',
    ("phase-4", 1): '{write="roof.txt", text="leaky\\n"}, {write="broken.txt", text="tile\\n"}',
    ("phase-4", 2): '{write="roof.txt", text="tight\\n"}',
    ("phase-5", 1): '{write="paint.txt", text="white\\n"}, {append="ground.txt", text="swept\\n"}',
}
REVIEWS = """
[[turn]]
role = "reviewer"
unit = "phase-2"
attempt = 1
do = [{run="%(note)s"}]
report = {approved=false, comments=[{text="The wall is thin.", file="left/wall.txt"}]}

[[turn]]
role = "reviewer"
do = [{run="%(note)s"}]
report = {approved=true}

[[turn]]
role = "evaluator"
do = [{run="%(note)s"}]
report = {items=[{finding=1, disposition="IMPLEMENT"}]}
"""
TURN = """
[[turn]]
role = "developer"
unit = "%s"
attempt = %d
do = [{run="%%(note)s"}, %s]
report = {status="completed", summary="done"}
"""
# Beside these the right side, or its check, is under way.
BESIDE = (("attempt_verified", 2), ("attempt_reviewed", 2))
HOUSE = Story(
    files=FILES,
    given={"plan.md": PLAN},
    script=REVIEWS + "".join(TURN % (unit, attempt, acts) for (unit, attempt), acts in WORK.items()),
    command=("run", "{path}/plan.md", "--mode", "phased", "--parallel", "2"),
    hanging=(
        Hanging("agent", "trap '' TERM; sleep 600", BESIDE),
        Hanging("check", "touch $TMPDIR/hang", BESIDE),
    ),
)
