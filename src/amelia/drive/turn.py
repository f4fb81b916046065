"""One turn of an agent that is a program: arguments in, lines out.

- The program and all it starts live as long as the iteration over `events`, also under cancellation.
- Every line is recorded before it is understood.
- The last event is the only `TurnEnded`; a program that cannot be started is a turn that crashed.
"""

import os
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import IO

import anyio
from anyio import to_thread

from amelia.drive.ending import Seen, conclude, unusable
from amelia.drive.logins import Login, in_step
from amelia.drive.stream import Dialect, Line, Lines, Result
from amelia.drive.transcript import Transcript
from amelia.model.agents import AgentEvent, Ending, SessionId, TurnSpec, Usage, Used, total
from amelia.system.denials import Denials
from amelia.system.environment import clean_environment
from amelia.system.process import Supervised, supervised
from amelia.system.secrets import Redactor, passwords_in, secrets_of

ERRORS_KEPT = 8_000
FIRST_ERRORS_KEPT = 2_000
INTERRUPTED = 3.0  # seconds in which an agent may come to its end by itself


@dataclass(frozen=True, slots=True)
class Program:
    """How an agent is started; the prompt goes to its standard input.

    `explain` understands the end of the standard error of an agent that failed without a line about it;
    `recount` finds what a session has used in all, by the agent's own record of it;
    `secrets` are values that nobody is to see, besides those of variables that are called like a secret;
    `before_prompt` is what the program reads first, and the record does not hold; without `reads_prompt` it
    is given its prompt in another way. `conclude` understands the end of a program that says itself nothing
    of how it ended, by its exit code and the end of its standard error; `login` is kept in step meanwhile.
    """

    argv: Sequence[str]
    environment: Mapping[str, str]
    dialect: Dialect
    explain: Callable[[str], Result | None] = lambda _: None
    secrets: tuple[str, ...] = ()
    before_prompt: str = ""
    reads_prompt: bool = True
    conclude: Callable[[int | None, str], Result | None] = lambda _code, _errors: None
    recount: Callable[[SessionId], Usage | None] = lambda _: None
    login: Login | None = None


def agent_environment(spec: TurnSpec, extra: Mapping[str, str]) -> dict[str, str]:
    """Returns everything an agent sees of the environment."""
    outside = Path(os.path.realpath(spec.cwd)).parent
    return clean_environment(
        {
            "AMELIA_RUN": spec.run,
            "AMELIA_UNIT": spec.unit,
            "AMELIA_ATTEMPT": str(spec.attempt),
            "AMELIA_ROLE": spec.role,
            # Else git would find an outer repository once an agent has deleted `.git`.
            "GIT_CEILING_DIRECTORIES": str(outside),
            **extra,
        }
    )


class ProgramTurn:
    """One turn, carried out by one program."""

    def __init__(self, spec: TurnSpec, program: Program) -> None:
        self._spec = spec
        self._program = program
        self._process: Supervised | None = None
        self._ended_by: Ending | None = None
        self._exit_code: int | None = None
        self._last_words = b""
        self._denials = Denials(spec.wall)

    async def events(self) -> AsyncGenerator[AgentEvent, None]:
        """Starts the agent and yields what it does; the last event is the only `TurnEnded`."""
        with Transcript(Path(self._spec.transcript), Redactor(_secrets(self._program))) as transcript:
            transcript.begin(self._spec)
            seen = Seen(self._spec.session)
            async with aclosing(self._lines()) as lines:
                async for line in lines:
                    self._denials.hear(line.data)
                    for heard in self._program.dialect(transcript.line(line)):
                        seen = seen.plus(heard)
                        if not isinstance(heard, Result):
                            yield heard
            errors = transcript.errors(self._last_words)
            if seen.result is None and self._exit_code and (explained := self._explain(seen, errors)):
                seen = seen.plus(explained)
            if self._ended_by is None and (concluded := self._program.conclude(self._exit_code, errors)):
                seen = seen.plus(concluded)
            if (untold := await self._untold(seen)) is not None:
                seen = seen.plus(untold)
                yield untold
            self._denials.hear(self._last_words)
            ended = conclude(seen, exit_code=self._exit_code, ended_by=self._ended_by, errors=errors)
            ended = replace(ended, denied=self._denials.paths)
            transcript.end(ended)
        yield ended

    async def _untold(self, seen: Seen) -> Used | None:
        """Returns what a turn used that did not come to tell of it all, if the agent has written it down."""
        if seen.session is None or (seen.result is not None and seen.result.ending is Ending.OK):
            return None
        recorded = await to_thread.run_sync(self._program.recount, seen.session)
        before = self._spec.before if self._spec.resume else None
        used = recorded.beyond(total(before, seen.usage)) if recorded is not None else None
        return Used(used) if used is not None and used.tokens else None

    def _explain(self, seen: Seen, errors: str) -> Result | None:
        return self._program.explain(errors) or unusable(seen, self._exit_code, errors)

    async def interrupt(self) -> None:
        """Asks the agent to stop by itself."""
        self._ended_by = self._ended_by or Ending.INTERRUPTED
        if self._process is not None:
            self._process.interrupt()

    async def kill(self, because: Ending = Ending.KILLED) -> None:
        """Ends the agent and everything it started; the turn then ends as `because`.

        It is interrupted first: what an agent used, many tell only when they are let to come to an end.
        """
        self._ended_by = because
        if self._process is not None:
            self._process.interrupt()
            with anyio.move_on_after(INTERRUPTED):
                await self._process.wait()
            await self._process.stop()

    async def _lines(self) -> AsyncGenerator[Line, None]:
        """Runs the program and yields its lines; a turn that was ended before it began starts nothing."""
        if self._ended_by is not None:
            return
        lines = Lines()
        async with AsyncExitStack() as stack:
            stack.enter_context(in_step(self._program.login))
            try:
                process = await stack.enter_async_context(self._running())
            except (OSError, ValueError) as error:  # no such folder; a NUL in what a plan calls its unit
                self._last_words = f"cannot be started in {self._spec.cwd}: {error}".encode(errors="replace")
                return
            self._process = process
            if self._ended_by is not None:  # while the program was being started
                await process.stop(timedelta(0))
            output = await stack.enter_async_context(aclosing(process.stdout))
            async for chunk in output:
                for line in lines.feed(chunk):
                    yield line
            for line in lines.close():
                yield line
            self._exit_code = await process.wait()
            self._last_words = _ends(process.errors)

    def _input(self) -> bytes:
        prompt = self._spec.prompt if self._program.reads_prompt else ""
        return f"{self._program.before_prompt}{prompt}".encode("utf-8", "replace")

    def _running(self) -> AbstractAsyncContextManager[Supervised]:
        return supervised(
            self._program.argv,
            cwd=Path(self._spec.cwd),
            env=self._program.environment,
            stdin=self._input(),
            keeps_errors=True,
            lock=Path(self._spec.lock) if self._spec.lock else None,
            wall=self._spec.wall,
        )


def _secrets(program: Program) -> list[str]:
    given = [secret for value in program.secrets for secret in (value, *passwords_in(value))]
    return [*given, *secrets_of(program.environment)]


def _ends(file: IO[bytes]) -> bytes:
    """Returns the beginning and the end of a file, which is all of it if it is short."""
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if size <= ERRORS_KEPT:
        return file.read()
    first = file.read(FIRST_ERRORS_KEPT)
    file.seek(size - ERRORS_KEPT + FIRST_ERRORS_KEPT)
    return first + b"\n[the middle is left out]\n" + file.read()
