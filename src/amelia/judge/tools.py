"""Places of a tree in which programs look for their tools, and that a unit must not fill.

Pure. What is installed there is the work of a setup, and ignored by git. Where a repository has it among its
files, it stays as it is; a unit that changes it would bring the tool that judges it. Below tests such places
are data.
"""

import re
from collections.abc import Iterable

from amelia.model.evidence import Change, ChangeStatus, Problem, ProblemCode
from amelia.plan.paths import is_test

_NODE_RUNNERS = (
    r"(?:@jest|@vitest|@playwright|@japa|@web)/.*|(?:jest|vitest|mocha|ava|tap|tape|jasmine|karma|cypress|"
    r"playwright|uvu|qunit|c8|nyc|npm|tsx|ts-node|cross-env)(?:-[^/]*)?/.*"
)
_TOOLS = re.compile(
    rf"(?:.*/)?node_modules/(?:\.bin/.*|{_NODE_RUNNERS})"
    r"|\.?venv/(?:pyvenv\.cfg|(?:bin|lib|lib64|Scripts)/.*)"
)
_SHOWN = 5


def planted_tools(changes: Iterable[Change]) -> Problem | None:
    """Returns what is wrong with a unit that put a tool into the tree; None if it put none there."""
    found = [change.path for change in changes if _is_tool(change)]
    if not found:
        return None
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    message = (
        f"The tests would be run with {', '.join(found[:_SHOWN])}{more}, which this unit brought. Take it "
        "out of the tree: tools are installed by the `setup` command, from what a manifest names."
    )
    return Problem(ProblemCode.PLANTED_TOOL, message, found[0])


def _is_tool(change: Change) -> bool:
    if change.status is ChangeStatus.DELETED or is_test(change.path):
        return False
    return _TOOLS.fullmatch(change.path) is not None
