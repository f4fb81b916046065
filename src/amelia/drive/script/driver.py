"""The `script` driver: an agent whose turns are written down in a file, for demos, tests and replay.

- It is a program like any other agent (`player`), so everything around it is the real thing.
- A script is checked with the reader that plays it.
"""

import platform
import sys
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from amelia.drive.plain import read_plain_line
from amelia.drive.script import player
from amelia.drive.script.player import ScriptError, read_script
from amelia.drive.turn import Program, ProgramTurn, agent_environment
from amelia.model.agents import DriverInfo, SessionId, TurnSpec
from amelia.model.errors import ConfigError
from amelia.system.regular import read_regular


def check_script(path: Path) -> None:
    """Raises a `ConfigError` that names file and turn unless the script can be played."""
    try:
        read_script(read_regular(path))
    except OSError as error:
        raise ConfigError(
            f"{path}: the script cannot be read: {error.strerror}", hint="give the path of a TOML file"
        ) from error
    except ScriptError as error:
        raise ConfigError(f"{path}: {error}", hint="a script is a list of [[turn]] tables") from error


@dataclass(frozen=True, slots=True)
class ScriptDriver:
    """Plays the turns of one script; `environment` is given to the player on top of the clean one."""

    script: Path
    environment: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def name(self) -> str:
        """The driver's name in a profile."""
        return "script"

    async def probe(self) -> DriverInfo:
        """Checks the script."""
        check_script(self.script)
        return DriverInfo(sys.executable, platform.python_version())

    async def start(self, spec: TurnSpec) -> ProgramTurn:
        """Prepares one turn."""
        spec = replace(spec, session=spec.session or SessionId(str(uuid.uuid4())))
        program = Program(self._command(spec), agent_environment(spec, self.environment), read_plain_line)
        return ProgramTurn(spec, program)

    def _command(self, spec: TurnSpec) -> list[str]:
        return [
            sys.executable,
            "-I",
            "-S",
            str(Path(player.__file__)),
            f"--script={self.script.absolute()}",
            f"--role={spec.role}",
            f"--unit={spec.unit}",
            f"--attempt={spec.attempt}",
            f"--session={spec.session}",
            *(["--resume"] if spec.resume else []),
            *(["--repair"] if spec.is_repair else []),
        ]
