"""One turn of a model: asked, given its tools, heard, and asked again until it reports.

- The history is on the disk before every request and after every answer, whole or not at all, so that a turn
  that is killed can be gone on with.
- An answer is paid for when it is there: its usage is told before anything it asks for is done, and an
  allowance that is used up ends the turn then. Only a report is told before its usage: it was the last of the
  money that brought it, and whoever counts ends the turn at once.
- A provider that stumbles is asked again a little later, and no more: waiting is not our business.
- The history stays below the window of the model. If the provider finds it too long all the same, more of it
  is left out, and the request is sent again.
"""

import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, cast

import anyio
from pydantic import ValidationError
from pydantic_ai import (
    Agent,
    FunctionToolCallEvent,
    FunctionToolResultEvent,
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelResponse,
    ModelRetry,
    RunContext,
    StructuredDict,
    TextOutput,
    ToolCallPart,
    ToolOutput,
    UsageLimits,
)
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.exceptions import RetryModelRequest, UsageLimitExceeded
from pydantic_ai.messages import repair_messages
from pydantic_ai.models import Model, ModelRequestContext
from pydantic_ai.settings import ModelSettings

from amelia.drive.api.assignment import Assignment, Teller
from amelia.drive.api.compaction import FILLED, TARGET, compacted, size_of
from amelia.drive.api.faults import read_fault
from amelia.drive.api.models import MissingKeyError, ModelError, make_model, usage_of
from amelia.drive.api.tools import Hands
from amelia.drive.objects import objects_in
from amelia.drive.stream import DETAIL_LIMIT
from amelia.model.agents import Ending, Spent, Usage

if TYPE_CHECKING:
    from pydantic_ai.output import OutputSpec

Report: TypeAlias = Mapping[str, object]

DELAYS = (0.5, 2.0)  # seconds before the same request is sent again
LONGEST_DELAY = 10.0  # a provider that asks for more is waited out by Amelia, without a process
READ_TIMEOUT = 300.0  # seconds without a byte
REPORT_TOOL = "final_result"
REMINDERS = 2
RETRIES = 5

INSTRUCTIONS = """\
You are a coding agent. You work with your tools on the files of one work tree; paths are relative to it.
Do what is asked, completely, and check what you did where your tools allow it.
"""
CLOSING = f"When you are done, and not before, call `{REPORT_TOOL}` once: it ends your turn.\n"


class _UsedUpError(Exception):
    """The allowance of the turn is used up."""


async def take_turn(assignment: Assignment, prompt: str, *, key: str | None, teller: Teller) -> None:
    """Carries out one turn, and tells of it and of its end."""
    try:
        model = make_model(assignment, key)
    except ModelError as error:
        teller.end(Ending.AUTH if isinstance(error, MissingKeyError) else Ending.UNUSABLE, str(error))
        return
    session = _Session(Path(assignment.history))
    history = session.load() if assignment.resume else []
    if history is None:
        teller.end(Ending.SESSION_LOST, f"{assignment.history}: no such session, or not readable")
        return
    turn = _Turn(assignment, teller, session)
    try:
        await turn.work(model, prompt, history)
    except _UsedUpError:
        teller.end(Ending.OUT_OF_BUDGET, "")
    except UsageLimitExceeded:
        teller.end(Ending.FAILED, f"no report after {assignment.max_turns} requests to the model")
    except Exception as error:  # noqa: BLE001 - whatever the libraries make of what a provider sends is an end
        _tell_fault(error, assignment.base_url, teller)


def _tell_fault(error: Exception, base_url: str | None, teller: Teller) -> None:
    fault = read_fault(error, datetime.now(UTC))
    if fault.ending is Ending.LIMITED:
        where = f"{base_url}: " if base_url else ""
        teller.limit(f"{where}{fault.detail}", fault.until)
    else:
        teller.end(fault.ending, fault.detail)


class _Session:
    """The messages of a session, in one file."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> list[ModelMessage] | None:
        """Returns the messages until now, broken off calls closed; None if they cannot be had."""
        try:
            return repair_messages(ModelMessagesTypeAdapter.validate_json(self._path.read_bytes()))
        except (OSError, ValidationError):
            return None

    def save(self, messages: list[ModelMessage]) -> None:
        """Replaces the file as a whole."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        draft = self._path.with_suffix(".new")
        draft.write_bytes(ModelMessagesTypeAdapter.dump_json(messages))
        draft.replace(self._path)


class _Turn:
    """The turn at work."""

    def __init__(self, assignment: Assignment, teller: Teller, session: _Session) -> None:
        self._assignment = assignment
        self._teller = teller
        self._session = session
        self._spent = Spent()
        self._untold: Usage | None = None
        self._reminders = REMINDERS

    async def work(self, model: Model, prompt: str, history: list[ModelMessage]) -> None:
        """Asks the model until it ends its turn, and tells its report if there is one."""
        try:
            output = await self._ask(model, prompt, history)
            has_report = not isinstance(output, str) or bool(objects_in(output))
            if has_report:
                self._teller.tell("result", **{"text" if isinstance(output, str) else "report": output})
        finally:
            self._count()
        if not has_report:
            self._stop_if_used_up()

    async def _ask(self, model: Model, prompt: str, history: list[ModelMessage]) -> "Report | str":
        limits = UsageLimits(request_limit=self._assignment.max_turns)
        async with self._agent(model).iter(prompt, message_history=history, usage_limits=limits) as run:
            async for node in run:
                if Agent.is_model_request_node(node):
                    self._count()
                    self._stop_if_used_up()
                    self._session.save([*run.all_messages(), node.request])
                    async with node.stream(run.ctx) as stream:
                        async for _ in stream:
                            pass
                elif Agent.is_call_tools_node(node):
                    self._session.save(run.all_messages())
                    self._heard(node.model_response)
                    async with node.stream(run.ctx) as events:
                        async for event in events:
                            self._tell_tool(event)
            self._session.save(run.all_messages())
        return run.result.output if run.result is not None else ""

    def _agent(self, model: Model) -> "Agent[None, Report | str]":
        hands = Hands(
            Path.cwd(),
            environment=os.environ,
            on_denied=lambda path: self._teller.tell("denied", what=path),
        )
        return Agent(
            model,
            deps_type=type(None),
            output_type=self._output(),
            instructions=INSTRUCTIONS + (CLOSING if self._assignment.schema else ""),
            tools=hands.tools(may_write=self._assignment.may_write),
            retries={"tools": RETRIES, "output": RETRIES},
            model_settings=_settings(),
            capabilities=[_Patience(self._teller)],
        )

    def _output(self) -> "OutputSpec[Report | str]":
        schema = self._assignment.schema
        if schema is None:
            return str
        report = ToolOutput(StructuredDict(dict(schema)), name=REPORT_TOOL, strict=True)
        return [report, TextOutput(self._text_report)]

    def _text_report(self, text: str) -> str:
        """Takes a message that may hold a report; reminds a model that only talks of its tools."""
        if self._reminders and not objects_in(text):
            self._reminders -= 1
            raise ModelRetry(f"Go on with your tools; when you are done, call `{REPORT_TOOL}`.")
        return text

    def _heard(self, response: ModelResponse) -> None:
        """Tells what the model said, and what it used unless a report may have to go first."""
        if response.text:
            self._teller.tell("say", text=response.text)
        self._untold = usage_of(response, self._assignment.base_url)
        if not _may_report(response):
            self._count()
            self._stop_if_used_up()

    def _count(self) -> None:
        """Tells what the last answer used, if that is still to be told."""
        if (used := self._untold) is not None:
            self._untold = None
            self._spent = self._spent.plus(used)
            self._teller.tell("usage", input=used.input_tokens, output=used.output_tokens, cost=used.cost)

    def _stop_if_used_up(self) -> None:
        if self._assignment.allowance.is_used_up_by(self._spent):
            raise _UsedUpError

    def _tell_tool(self, event: object) -> None:
        match event:
            case FunctionToolCallEvent(part=part):
                self._teller.tell("tool", state="started", name=part.tool_name, detail=_detail(part))
            case FunctionToolResultEvent(part=part):
                ok = part.outcome == "success"
                self._teller.tell("tool", state="ended", name=part.tool_name, ok=ok)
            case _:
                pass


class _Patience(AbstractCapability[None]):
    """Sends requests that fit into the window, and again if they failed for a reason that may pass."""

    def __init__(self, teller: Teller) -> None:
        self._teller = teller
        self._room: int | None = None
        self._outdated: ModelResponse | None = None

    async def prepare_model_request(
        self, ctx: RunContext[None], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Leaves out of the history what the window has no room for, for good."""
        window = request_context.model.context_window
        room = self._room or (int(window * FILLED) if window else None)
        messages = request_context.messages
        if room is None or (size := self._size(messages)) <= room:
            return request_context
        # What is estimated from bytes is brought into line with what the provider counts.
        fitting = compacted(messages, int(room * TARGET * size_of(messages) / size))
        self._outdated = _last_answer(messages)
        request_context.messages = fitting.copy()
        ctx.messages[:] = fitting
        return request_context

    async def on_model_request_error(
        self, ctx: RunContext[None], *, request_context: ModelRequestContext, error: Exception
    ) -> ModelResponse:
        """Waits a little and asks for another attempt, or lets the error go on."""
        del ctx
        fault = read_fault(error, datetime.now(UTC))
        attempt = request_context.attempt
        if fault.ending is Ending.OVERFLOW and self._make_room(request_context.messages):
            self._teller.tell("retry", attempt=attempt, delay=0, status=fault.status)
            raise RetryModelRequest
        if not fault.may_pass or attempt > len(DELAYS):
            raise error
        delay = fault.wait.total_seconds() if fault.wait else DELAYS[attempt - 1]
        if delay > LONGEST_DELAY:
            raise error
        self._teller.tell("retry", attempt=attempt, delay=delay, status=fault.status)
        await anyio.sleep(delay)
        raise RetryModelRequest

    def _size(self, messages: list[ModelMessage]) -> int:
        """Returns how large the history is, by what its last answer counted unless that was before a cut."""
        last = _last_answer(messages)
        return size_of(messages, None if last is self._outdated else last)

    def _make_room(self, messages: list[ModelMessage]) -> bool:
        """Says whether half of what was too long can be left out: the window is smaller than it seemed."""
        room = size_of(messages) // 2
        self._room, self._outdated = room, _last_answer(messages)
        return size_of(compacted(messages, int(room * TARGET))) <= room


def _settings() -> ModelSettings:
    """Returns the settings of every request: few retries, and marks of what may be cached.

    Anthropic's own marks hold at servers that only speak like it, too; other providers know the first one.
    """
    own = {f"anthropic_cache_{what}": True for what in ("instructions", "tool_definitions", "messages")}
    return cast("ModelSettings", {"max_retries": 0, "timeout": READ_TIMEOUT, "cache": True, **own})


def _last_answer(messages: list[ModelMessage]) -> ModelResponse | None:
    return next((message for message in reversed(messages) if isinstance(message, ModelResponse)), None)


def _may_report(response: ModelResponse) -> bool:
    """Tells whether an answer may be the last: by the tool for that, or because it asks for no other."""
    names = [call.tool_name for call in response.tool_calls]
    return not names or REPORT_TOOL in names


def _detail(call: ToolCallPart) -> str:
    """Returns what a call is about: its first argument that is a text."""
    texts = (text for text in call.args_as_dict().values() if isinstance(text, str))
    return next(texts, "")[:DETAIL_LIMIT]
