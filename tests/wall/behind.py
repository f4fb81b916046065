"""Starts a program behind a wall and prints what it printed: `python behind.py '{"wall": …, "argv": […]}'`."""

import json
import os
import sys
from pathlib import Path
from typing import Any, cast

import anyio

from amelia.model.walls import Layer, Wall
from amelia.system.process import supervised


async def main(order: dict[str, Any]) -> int:
    described: dict[str, Any] = order["wall"]
    layers = tuple(Layer(**layer) for layer in described.pop("layers", ()))
    places: dict[str, Any] = {
        name: tuple(cast("list[str]", value)) if isinstance(value, list) else value
        for name, value in described.items()
    }
    wall = Wall(layers=layers, **places)
    env = {"PATH": os.environ["PATH"]}
    async with supervised(order["argv"], cwd=Path(order["cwd"]), env=env, wall=wall) as process:
        async for chunk in process.stdout:
            os.write(1, chunk)
        return await process.wait()


if __name__ == "__main__":
    sys.exit(anyio.run(main, json.loads(sys.argv[1])))
