"""How a turn ended: one pure function over everything that was seen.

- Neither the exit code nor the agent's JSON is believed alone: both must say that all went well.
- Who ended a turn decides how it ended, whatever the agent managed to say before; only a report that was
  there when the budget ran out counts.
- Only structured results tell of a limit; a text that speaks of one is a text.
- A report that an agent does not give by means of its own is looked for in its last message, for every agent
  alike. Which of several objects counts is for whoever knows what was asked.
"""

import re
from dataclasses import dataclass, replace

from amelia.drive.objects import read_message
from amelia.drive.stream import DETAIL_LIMIT, TEXT_LIMIT, Heard, Result
from amelia.model.agents import (
    Ending,
    Said,
    SessionId,
    SessionStarted,
    TurnEnded,
    Unparsed,
    Usage,
    Used,
    Written,
    total,
)

_NOT_STARTED = frozenset({126, 127})
"""The exit codes of a shell that cannot execute a program, or does not find it."""

# How the usual readers of command lines refuse an option, at the start of a line of their standard error.
_REFUSED_OPTION = re.compile(
    r"""^(?:[^\n:]{0,100}:[ ])??(?:error:?[ ])?(?:
        (?:unknown|unrecogni[sz]ed|unexpected|invalid|illegal|no[ ]such)[ ]
            (?:(?:long|short|shorthand)[ ])?(?:option|argument|flag|switch|command|subcommand)s?\b
        |option[ ]'[^'\n]{0,100}'[ ]argument[ ]'[^'\n]{0,1000}'[ ]is[ ]invalid
        |invalid[ ]value[ ]'[^'\n]{0,1000}'[ ]for[ ]'
        |argument[ ]\S{1,100}:[ ]invalid[ ]choice
        |flag[ ]provided[ ]but[ ]not[ ]defined
    ).*""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class Seen:
    """What the lines of a turn came to."""

    session: SessionId | None
    result: Result | None = None
    text: str = ""
    usage: Usage | None = None
    understood: int = 0
    unparsed: int = 0
    written: tuple[Written, ...] = ()
    unread: tuple[str, ...] = ()

    def plus(self, heard: Heard) -> "Seen":
        """Returns the same with one more event; the last result counts."""
        match heard:
            case Unparsed():
                return replace(self, unparsed=self.unparsed + 1)
            case SessionStarted(session):
                return replace(self, session=session, understood=self.understood + 1)
            case Said(text):
                return replace(self, text=text, understood=self.understood + 1)
            case Used(usage):
                return replace(self, usage=total(self.usage, usage), understood=self.understood + 1)
            case Result(text=text):
                text = text or self.text
                return replace(self, result=heard, text=text, understood=self.understood + 1)
            case _:
                return replace(self, understood=self.understood + 1)


def conclude(seen: Seen, *, exit_code: int | None, ended_by: Ending | None, errors: str) -> TurnEnded:
    """Derives the one end of a turn.

    `ended_by` says how, if it was not the agent who ended it; `errors` is the end of its standard error.
    """
    if ended_by is None and (seen.result is not None or exit_code == 0):
        seen = _with_written_report(seen)
    result = seen.result
    if ended_by is Ending.OUT_OF_BUDGET and result is not None and result.report is not None:
        ending = Ending.OK  # it was ready when the last of its budget was counted; that is paid for
    else:
        ending = ended_by or _own_ending(seen, exit_code)
    return TurnEnded(
        ending=ending,
        session=seen.session,
        report=result.report if result and ending is Ending.OK else None,
        text=seen.text[-TEXT_LIMIT:],
        detail=_detail(ending, exit_code, (result.detail if result else "") or errors),
        exit_code=exit_code,
        until=result.until if result and ending is Ending.LIMITED else None,
        usage=seen.usage,
        written=seen.written if ending is Ending.OK else (),
        unread=seen.unread if ending is Ending.OK else (),
    )


def _with_written_report(seen: Seen) -> Seen:
    """Returns what was seen with the report that the last message holds, if it was not given otherwise."""
    result = seen.result or Result(ending=Ending.OK)
    if result.ending is not Ending.OK or result.report is not None:
        return seen
    message = read_message(seen.text)
    if not (written := message.written):
        return seen
    report = replace(result, report=written[-1].value)
    return replace(seen, result=report, written=written, unread=message.unread)


def unusable(seen: Seen, exit_code: int | None, errors: str) -> Result | None:
    """Returns the end of a program that could not be started, or refused its options."""
    if seen.understood or not exit_code:
        return None
    refused = _REFUSED_OPTION.search(errors)
    if refused is None and exit_code not in _NOT_STARTED:
        return None
    detail = refused[0].strip() if refused else errors.strip()
    return Result(ending=Ending.UNUSABLE, detail=detail[-DETAIL_LIMIT:])


def _own_ending(seen: Seen, exit_code: int | None) -> Ending:
    match seen.result:
        case Result(ending=Ending.OK) as result:
            if exit_code != 0:
                return Ending.FAILED
            return Ending.OK if result.report is not None else Ending.NO_REPORT
        case Result(ending=ending):
            return ending
        case None if exit_code != 0:
            return Ending.CRASHED
        case None:
            return Ending.GARBAGE if seen.unparsed and not seen.understood else Ending.NO_REPORT


def _detail(ending: Ending, exit_code: int | None, said: str) -> str:
    facts = {
        Ending.OK: "",
        Ending.FAILED: "the agent failed",
        Ending.NO_REPORT: "the agent ended without a report",
        Ending.LIMITED: "the provider does not answer for now",
        Ending.AUTH: "the provider refuses the login",
        Ending.NO_CREDIT: "the provider's credit is used up",
        Ending.MODEL_NOT_FOUND: "the provider does not have this model, or nothing of it is at this address",
        Ending.UNUSABLE: "the agent's program cannot be used as it is",
        Ending.OVERFLOW: "the session does not fit into the model's context window any more",
        Ending.SESSION_LOST: "the session to go on with is not there any more",
        Ending.OUT_OF_BUDGET: "the turn used up what it may use",
        Ending.CRASHED: "the agent ended without a result",
        Ending.TIMED_OUT_FIRST_EVENT: "nothing was heard of the agent in its first time",
        Ending.TIMED_OUT_SILENCE: "the agent fell silent",
        Ending.TIMED_OUT_WALL: "the turn's whole time was up",
        Ending.INTERRUPTED: "the turn was interrupted",
        Ending.KILLED: "the turn was killed",
        Ending.GARBAGE: "nothing the agent wrote could be understood",
    }
    fact = facts[ending]
    if ending in (Ending.FAILED, Ending.CRASHED) and exit_code:
        fact = f"{fact} (exit code {exit_code})"
    said = said.strip()[-DETAIL_LIMIT:] if fact else ""
    return f"{fact}: {said}" if said else fact
