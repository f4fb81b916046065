"""Speaks for one turn with an agent of the Agent Client Protocol: the program of the `acp` driver.

It starts the agent, shakes hands, opens a session or goes on with one, hands over the prompt that it reads
from its standard input, and tells in the lines of `plain` what the agent does.

- The agent is lent neither files nor terminals: it works with its own, which end with the supervisor's tree.
- Only a developer gets permissions, and those only for files inside the working directory. An agent that
  takes a refusal as the end of its turn is told to go on without; a turn that ends so all the same failed.
- An agent that wants a login gets one where that needs nobody; else the turn ends, and says how to log in.
- A message that is a notice of the provider's fault ends the turn as that fault, in spite of `end_turn`.
- A session that cannot be gone on with is told as lost, and nothing is done.
- An agent that ends before its answer ends this program with its exit code, and without a result.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from amelia import __version__
from amelia.drive.acp.faults import (
    LOGIN_IS_NEEDED,
    ending_of,
    ending_of_silence,
    ending_shown,
    failure_of,
    is_of_provider,
    words_of,
)
from amelia.drive.acp.login import how_to_log_in, ways_without_a_person
from amelia.drive.acp.offers import (
    current_value,
    mode_to_read_in,
    mode_to_write_in,
    option_for,
    way_to_resume,
)
from amelia.drive.acp.updates import Table, Updates, permission, table_of, touched_paths
from amelia.drive.acp.wire import (
    AgentIsGone,
    AnsweredWithError,
    TookTooLong,
    WasInterrupted,
    Wire,
    read_output,
)
from amelia.drive.fault_texts import fault_of_message
from amelia.drive.objects import objects_in
from amelia.drive.stream import DETAIL_LIMIT, Line, text_of
from amelia.model.agents import Ending

PROTOCOL = 1
FAILED = 1
CANNOT_START = 127
INTERRUPTED = 130
TIME_TO_SHOW = 60.0
"""Seconds in which an agent shows one of its sessions."""
TIME_TO_LOG_IN = 10.0
"""Seconds in which a login that needs nobody is over."""
MOST_REMINDERS = 2
_GO_ON = (
    "You were refused: {what}. Nobody here can allow it: {may}. Go on without it, do what you were asked to "
    "do, and end with the JSON object that you were asked for."
)
_READS = "you may only read"
_WRITES = "you may change files inside the working directory only"


class EndedError(Exception):
    """The turn ends here, with something to say for people."""

    def __init__(self, ending: Ending, detail: str) -> None:
        super().__init__(detail)
        self.ending = ending


def tell(messages: Iterable[Table]) -> None:
    """Writes lines of the plain dialect."""
    for message in messages:
        sys.stdout.buffer.write(msgspec.json.encode(message) + b"\n")
        sys.stdout.buffer.flush()


class Conversation:
    """One turn with one agent."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._folder = Path.cwd()
        self._updates = Updates(options.cost_before if options.resume else None)
        self._is_prompted = False
        self._hello: Table = {}
        self._wire = Wire(options.command, hear=self._hear, noise=_tell_noise)

    def shake_hands(self) -> Table:
        """Returns what the agent says of itself."""
        hello = self._wire.request(
            "initialize",
            {
                "protocolVersion": PROTOCOL,
                "clientCapabilities": {
                    "fs": {"readTextFile": False, "writeTextFile": False},
                    "terminal": False,
                    "_meta": {"jetbrains": {"air": {"version": 1, "capabilities": ["sessionFailure"]}}},
                },
                "clientInfo": {"name": "amelia", "version": __version__},
            },
        )
        if (spoken := hello.get("protocolVersion")) != PROTOCOL:
            raise EndedError(Ending.FAILED, f"the agent speaks version {spoken!r} of the protocol, not 1")
        self._hello = hello
        return hello

    def take_turn(self, prompt: str) -> None:
        """Carries out the turn."""
        way = way_to_resume(self.shake_hands())
        session, offers = self._go_on(way) if self._options.resume else self._begin()
        model = self._options.model or current_value(offers, "model")
        tell([{"type": "session", "session": session, "model": model}])
        self._choose_model(session, offers)
        self._choose_mode(session, offers)
        self._is_prompted = True
        self._wire.cancellation = {"method": "session/cancel", "params": {"sessionId": session}}
        message = self._prompt(session, prompt)
        for _ in range(MOST_REMINDERS):
            if not self._updates.refused or objects_in(message):
                break
            may = _READS if self._options.read_only else _WRITES
            message = self._prompt(session, _GO_ON.format(what=self._updates.refused, may=may))
        if (what := self._updates.refused) and not objects_in(message):
            raise EndedError(Ending.FAILED, f"the agent ended its turn when it was refused: {what}")
        tell([{"type": "result", "text": message}])

    def _prompt(self, session: str, text: str) -> str:
        """Hands a prompt over and returns the last message that came of it; a failure ends the turn."""
        self._updates.begin_turn()
        began = time.monotonic()
        try:
            answer = self._wire.request(
                "session/prompt", {"sessionId": session, "prompt": [{"type": "text", "text": text}]}
            )
        except AnsweredWithError as refused:
            raise EndedError(self._ending_of(refused.error, session), words_of(refused.error)) from refused
        tell(self._updates.end_turn(answer))
        seconds = time.monotonic() - began
        if (silence := ending_of_silence(seconds, has_spoken=self._updates.has_spoken)) is not None:
            raise EndedError(silence, f"the agent ended its turn without a word after {seconds:.0f} seconds")
        if (failure := failure_of(answer)) is not None:
            raise EndedError(*failure)
        message = self._updates.last_message
        if (fault := fault_of_message(message, is_idle=not self._updates.has_used_tools)) is not None:
            raise EndedError(fault, message[-DETAIL_LIMIT:])
        reason, is_cut = answer.get("stopReason"), self._wire.is_interrupted
        if reason != "end_turn" and (is_cut or not self._updates.refused):
            raise EndedError(Ending.FAILED, f"the agent stopped early: {text_of(reason, DETAIL_LIMIT)}")
        return message

    def _ending_of(self, error: Table, session: str) -> Ending:
        """Returns how a turn ends; an agent that keeps its provider's status to itself is asked for it."""
        ending, shows = ending_of(error), self._options.shows
        if ending is not Ending.FAILED or not shows or not is_of_provider(error):
            return ending
        line = [argument.replace("{session}", session) for argument in shows]
        shown = read_output(line, within=TIME_TO_SHOW)
        return ending_shown(shown.decode("utf-8", "replace")) or ending

    def leave(self) -> int | None:
        """Lets the agent end by itself; returns its exit code, None if it stays."""
        return self._wire.leave()

    def _begin(self) -> tuple[str, Table]:
        offers = self._open("session/new", self._place())
        if not (session := text_of(offers.get("sessionId"), DETAIL_LIMIT)):
            raise EndedError(Ending.FAILED, "the agent began a session without an id")
        return session, offers

    def _go_on(self, way: str | None) -> tuple[str, Table]:
        if way is None:
            raise EndedError(Ending.SESSION_LOST, "the agent cannot go on with a session")
        try:
            offers = self._open(way, {"sessionId": self._options.session, **self._place()})
        except AnsweredWithError as answer:
            ending = ending_of(answer.error)
            is_lost = ending is Ending.FAILED
            raise EndedError(Ending.SESSION_LOST if is_lost else ending, words_of(answer.error)) from answer
        return self._options.session, offers

    def _open(self, method: str, params: Table) -> Table:
        """Opens a session; an agent that asks for a login first gets one, if that needs nobody."""
        words = ""
        for way in (*ways_without_a_person(self._hello, os.environ), None):
            try:
                return self._wire.request(method, params)
            except AnsweredWithError as answer:
                if answer.error.get("code") != LOGIN_IS_NEEDED:
                    raise
                words = words_of(answer.error)
            if way is not None:
                with suppress(AnsweredWithError, TookTooLong):
                    self._wire.request("authenticate", {"methodId": way}, within=TIME_TO_LOG_IN)
        program, known = Path(self._options.command[0]).name, self._options.login
        raise EndedError(Ending.AUTH, f"{words}; {how_to_log_in(self._hello, program, known)}")

    def _place(self) -> Table:
        return {"cwd": str(self._folder), "mcpServers": [], "_meta": known_switches(self._options)}

    def _choose_model(self, session: str, offers: Table) -> None:
        wanted = self._options.model
        if wanted is None:
            return
        if (option := option_for(offers, "model")) is not None:
            self._set(session, option, wanted)
        elif "models" in offers:
            self._wire.request("session/set_model", {"sessionId": session, "modelId": wanted})
        else:
            raise EndedError(
                Ending.FAILED, f"the agent lets nobody choose a model, so that it cannot be {wanted}"
            )

    def _choose_mode(self, session: str, offers: Table) -> None:
        """Chooses a mode for a turn that may not write, and leaves it again in the next one that may."""
        mode = None
        if self._options.read_only:
            mode = mode_to_read_in(offers)
        elif self._options.resume:
            mode = mode_to_write_in(offers)
        if mode is None:
            return
        if (option := option_for(offers, "mode")) is not None:
            self._set(session, option, mode)
        else:
            self._wire.request("session/set_mode", {"sessionId": session, "modeId": mode})

    def _set(self, session: str, option: Table, value: str) -> None:
        self._wire.request(
            "session/set_config_option",
            {"sessionId": session, "configId": option.get("id"), "value": value},
        )

    def _hear(self, method: str, params: Table) -> Table | None:
        match method:
            case "session/update":
                self._take_update(table_of(params.get("update")), table_of(params.get("_meta")))
                return {}
            case "session/request_permission":
                return self._answer_request(params)
            case _:
                return None

    def _take_update(self, update: Table, meta: Table) -> None:
        if self._is_prompted:
            tell(self._updates.hear(update, meta))
        else:
            self._updates.recall(update, meta)

    def _answer_request(self, params: Table) -> Table:
        call = table_of(params.get("toolCall"))
        is_allowed = not self._options.read_only and all(map(self._is_inside, touched_paths(call)))
        if not is_allowed:
            what = text_of(call.get("title"), DETAIL_LIMIT) or "something without a title"
            tell(self._updates.refuse(what))
        return permission(params.get("options"), is_allowed=is_allowed)

    def _is_inside(self, path: str) -> bool:
        try:
            return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self._folder))
        except ValueError:  # a NUL in it
            return False


def _tell_noise(line: Line) -> None:
    tell([{"type": "noise", "line": line.data[:DETAIL_LIMIT].decode("utf-8", "replace")}])


def known_switches(options: argparse.Namespace) -> Table:
    """Returns what the protocol has no word for, in the words of agents that are known to listen.

    Without trust, what the repository brings for the agent is off; without the right to write, the tools are.
    """
    claude: dict[str, object] = {}
    if not options.trusts_repository:
        claude |= {"settingSources": ["user"]}
    if options.read_only:  # without servers, which could write
        claude |= {"disallowedTools": ["Bash", "Edit", "NotebookEdit", "Write"], "strictMcpConfig": True}
    return {"claudeCode": {"options": claude}}


def tell_of_agent(hello: Table) -> None:
    """Writes the one line of a probe."""
    agent = table_of(hello.get("agentInfo"))
    tell(
        [
            {
                "type": "agent",
                "name": text_of(agent.get("name"), DETAIL_LIMIT),
                "version": text_of(agent.get("version"), DETAIL_LIMIT),
                "may_resume": way_to_resume(hello) is not None,
            }
        ]
    )


def tell_end(ending: Ending, detail: str) -> int:
    """Writes how the turn ended, and why also to the standard error; returns the exit code."""
    sys.stderr.write(detail + "\n")
    limit: Table = {"type": "limit", "detail": detail}
    tell([limit if ending is Ending.LIMITED else {"type": "end", "ending": ending, "detail": detail}])
    return FAILED


def converse(conversation: Conversation, options: argparse.Namespace) -> int:
    """Speaks with the agent and returns the exit code."""
    code = 0
    try:
        if options.probe:
            tell_of_agent(conversation.shake_hands())
        else:
            conversation.take_turn(sys.stdin.buffer.read().decode("utf-8", "replace"))
    except EndedError as end:
        code = tell_end(end.ending, str(end))
    except AnsweredWithError as answer:
        code = tell_end(ending_of(answer.error), words_of(answer.error))
    except WasInterrupted:
        return INTERRUPTED
    except AgentIsGone:
        sys.stderr.write("the agent ended before its answer\n")
        return conversation.leave() or FAILED
    conversation.leave()
    return code


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    """Returns what the command line says."""
    parser = argparse.ArgumentParser(prog="acp_client", description="Takes one turn with an ACP agent.")
    parser.add_argument("--probe", action="store_true")
    parser.add_argument("--session", default="")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--cost-before", type=float, default=None)
    parser.add_argument("--model", default=None)
    parser.add_argument("--login", default="")
    parser.add_argument("--shows", action="append", default=[])
    parser.add_argument("--read-only", action="store_true")
    parser.add_argument("--trusts-repository", action="store_true")
    parser.add_argument("command", nargs="+")
    return parser.parse_args(argv)


def main(argv: Sequence[str]) -> int:
    """Takes the turn that the arguments name."""
    options = arguments(argv)
    try:
        conversation = Conversation(options)
    except OSError as error:
        sys.stderr.write(f"cannot start {options.command[0]!r}: {error.strerror}\n")
        return CANNOT_START
    return converse(conversation, options)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
