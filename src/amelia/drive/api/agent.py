"""Speaks for any model: the program of the `api` driver, a child process that speaks the plain dialect.

- The session is told before anything slow or breakable happens.
- Whatever a provider or a library does, the program ends with one honest end and without a traceback.
- Importing it costs nothing: the library behind it is loaded by the running program only.
- The key comes before the prompt and is gone from the standard input before anything else is started; no
  environment, no argument and no file ever holds it.
"""

import json
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import partial

import anyio
import msgspec

from amelia.drive.api.assignment import Assignment, Teller
from amelia.model.agents import Ending

INSTALL = "pip install 'amelia-orchestrator[api]'"
NOT_INSTALLED = 3
NOT_USABLE = 4
INTERRUPTED = 130


def probe(assignment: Assignment) -> int:
    """Tries whether the model could be asked; prints the version of the library, or the reason."""
    try:
        from amelia.drive.api.models import check_model  # noqa: PLC0415 - see the module's invariants

        version = check_model(assignment)
    except ImportError as error:
        sys.stdout.write(f"{error}\n")
        return NOT_INSTALLED
    except ValueError as error:
        sys.stdout.write(f"{error}\n")
        return NOT_USABLE
    sys.stdout.write(f"{version}\n")
    return 0


def read_input(*, has_key: bool) -> tuple[str | None, str]:
    """Returns the key and the prompt, and empties the file they come in: it stays open as long as we run."""
    given = sys.stdin.buffer.read().decode("utf-8", "replace")
    with suppress(OSError):  # a pipe is empty already
        os.ftruncate(sys.stdin.fileno(), 0)
    if not has_key:
        return None, given
    key, _, prompt = given.partition("\n")
    return json.loads(key), prompt


def work(assignment: Assignment) -> int:
    """Takes the turn whose prompt is on the standard input."""
    key, prompt = read_input(has_key=assignment.has_key)
    teller = Teller(sys.stdout.buffer)
    teller.tell("session", session=assignment.session, model=assignment.model)
    try:
        from amelia.drive.api.turn import take_turn  # noqa: PLC0415 - see the module's invariants
    except ImportError as error:
        teller.end(Ending.UNUSABLE, f"{error}; {INSTALL}")
        return 0
    try:
        anyio.run(partial(take_turn, assignment, prompt, key=key, teller=teller))
    except KeyboardInterrupt:
        return INTERRUPTED
    return 0


def main(argv: Sequence[str]) -> int:
    """Takes one turn, or only tries the model: `[--probe] ASSIGNMENT`."""
    assignment = msgspec.json.decode(argv[-1], type=Assignment)
    return probe(assignment) if "--probe" in argv else work(assignment)


def run(argv: Sequence[str]) -> None:
    """Is the whole program; ends without tidying up an interpreter that nobody needs any more."""
    code = main(argv)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    run(sys.argv[1:])
