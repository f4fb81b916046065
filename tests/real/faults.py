"""The table of faults: what a fault of the provider came to with each driver, one JSON object on a line."""

import json
import os
from pathlib import Path

from modelserver.steps import Fault


def refusal(status: int, code: str, message: str) -> Fault:
    """Returns an error as OpenAI writes it, with a code that tells its kind."""
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    return Fault(status=status, body=json.dumps({"error": error}))


FULL = refusal(400, "context_length_exceeded", "Your input exceeds the context window of this model.")
NO_CREDIT = refusal(429, "insufficient_quota", "You exceeded your current quota, please check your plan.")
UNKNOWN_MODEL = refusal(404, "model_not_found", "The model `m1` does not exist or you have no access to it.")


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
