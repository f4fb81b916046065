"""Starts a program behind a wall and prints what it printed: `python behind.py '{"wall": …, "argv": […]}'`."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import anyio

from amelia.system.process import supervised
from amelia.system.wall import Wall, find_kernel

LISTS = ("writes", "hides", "shows", "fixes")


async def main(order: dict[str, Any]) -> int:
    described: dict[str, Any] = order["wall"]
    places = {name: tuple(Path(path) for path in described.get(name, ())) for name in LISTS}
    temporary = described.get("temporary")
    wall = Wall(
        kernel=find_kernel(),
        temporary=Path(temporary) if temporary else None,
        is_offline=described.get("is_offline", False),
        **places,
    )
    env = {"PATH": os.environ["PATH"]}
    async with supervised(order["argv"], cwd=Path(order["cwd"]), env=env, wall=wall) as process:
        async for chunk in process.stdout:
            os.write(1, chunk)
        return await process.wait()


if __name__ == "__main__":
    sys.exit(anyio.run(main, json.loads(sys.argv[1])))
