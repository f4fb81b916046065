"""The table of faults: what a fault of the provider came to with each driver, one JSON object on a line."""

import json
import os
from pathlib import Path


def record(driver: str, fault: str, ending: str, *, seconds: float, processes_left: int) -> None:
    """Adds a line to the file that AMELIA_FAULT_TABLE names; does nothing without one."""
    if not (name := os.environ.get("AMELIA_FAULT_TABLE")):
        return
    row = {
        "driver": driver,
        "fault": fault,
        "ending": ending,
        "seconds": round(seconds, 1),
        "processes_left": processes_left,
    }
    with Path(name).open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
