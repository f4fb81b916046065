"""Tries operations behind the wall of every role, and prints what was allowed: `python roles.py '{"top": …}'`.

The order names a directory, settings of the wall, and for each role what it tries.
"""

import json
import os
import shutil
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import anyio

from amelia.app.walls import Walls
from amelia.model.agents import AgentSettings, Role
from amelia.model.walls import Network, Wall, WallSettings
from amelia.record.runs import RunDirectory, new_run
from amelia.system.environment import clean_environment
from amelia.system.git_places import Lane, Purpose, Store
from amelia.system.process import supervised

PYTHON = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable


def wall_of(walls: Walls, role: str, directory: RunDirectory) -> tuple[Wall | None, Path]:
    work, check = (directory.lanes / "1" / name for name in ("work", "check"))
    match role:
        case "setup":
            return walls.of_setup(check), check
        case "tests":
            return walls.of_tests(check), check
        case "hook":
            source: Any = SimpleNamespace(hooks=walls.repository)
            store = Store(run=directory.run, directory=directory.path, source=source)
            return walls.of_hook(Lane(store, 1, Purpose.WORK)), work
        case _:
            return walls.of_agent(Role(role), 1, work), work


async def tried(wall: Wall | None, cwd: Path, attempts: list[list[str]]) -> list[str]:
    argv = [PYTHON, str(Path(__file__).parent / "attempts.py"), json.dumps(attempts)]
    said = b""
    async with supervised(argv, cwd=cwd, env=clean_environment({}), wall=wall) as process:
        async for chunk in process.stdout:
            said += chunk
        await process.wait()
    try:
        return [answer.partition(":")[0] for answer in json.loads(said)]
    except ValueError:
        return [said.decode(errors="replace")] * len(attempts)


async def main(order: dict[str, Any]) -> dict[str, list[str]]:
    from datetime import UTC, datetime  # noqa: PLC0415

    top = Path(order["top"])
    directory = new_run(top / "state", "plan.md", datetime.now(UTC))
    for name in (
        "lanes/1/work",
        "lanes/1/check",
        "lanes/2/work",
        "store.git/objects",
        "store.git/lanes/1-work",
        "store.git/lanes/1-work-hook",
    ):
        (directory.path / name).mkdir(parents=True)
        (directory.path / name / "file").write_text("file")
    directory.journal.write_text("journal")
    (top / "state/runs/other").mkdir(exist_ok=True)
    settings = WallSettings(network=Network(order.get("network", "full")))
    agents = {role.value: AgentSettings(driver="claude") for role in Role}
    walls = Walls(settings=settings, directory=directory, repository=top / "checkout", agents=agents)
    found: dict[str, list[str]] = {}
    for role, attempts in order["attempts"].items():
        placed = [[what, path.replace("RUN", str(directory.path))] for what, path in attempts]
        for _ in range(int(order.get("times", 1))):
            found[role] = await tried(*wall_of(walls, role, directory), placed)
    return found


if __name__ == "__main__":
    os.umask(0o022)
    print(json.dumps(anyio.run(main, json.loads(sys.argv[1]))))  # noqa: T201 - that is what it is for
