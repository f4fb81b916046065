"""The draft that is killed: an issue becomes a plan, which nobody has to approve, and the run of that begins.

The first version of the plan cannot run. Nothing is killed after the start of the only unit: the rest is the
house's story.
"""

from crash.story import Hanging, Story

FILES = {
    "README.md": "# A garden\n",
    "PRODUCT.md": "# Product\n\n## Acceptance criteria\n\n- AC-1: It keeps the rain off\n",
    "check.sh": "test -e README.md\n",
    "amelia.toml": '[verify]\ncommand = ["sh", "check.sh"]\n',
}
ISSUE = "# Build a shed\n\nThe rake gets wet.\n"
SCRIPT = """
[[turn]]
role = "architect"
attempt = 1
do = [{run="%(note)s"}]
report = {goal="Build a shed", tasks=[{id="1", title="Build it", type="chore", depends_on=["9"]}]}

[[turn]]
role = "architect"
attempt = 2
do = [{run="%(note)s"}, {run="setsid sleep 600 >/dev/null 2>&1 &"}, {run="%(hang)s"}]

[turn.report]
goal = "Build a shed"

[[turn.report.tasks]]
id = "1"
title = "Build it"
type = "chore"
files_to_create = ["shed.txt"]
acceptance_criteria = ["AC-1: It keeps the rain off"]

[[turn]]
role = "developer"
do = [{run="%(note)s"}, {write="shed.txt", text="planks\\n"}]
report = {status="completed", summary="done"}

[[turn]]
role = "reviewer"
do = [{run="%(note)s"}]
report = {approved=true}
"""
SHED = Story(
    files=FILES,
    given={"ISSUE-7.md": ISSUE},
    script=SCRIPT,
    command=("run", "Build a shed", "--issue", "{path}/ISSUE-7.md", "--yes", "--mode", "tasks"),
    hanging=(Hanging("architect", "trap '' TERM; sleep 600", (("session_opened", 2),)),),
    last="unit_started",
)
