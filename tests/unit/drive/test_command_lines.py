"""What any program prints, understood as the turn of an agent."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amelia.drive.command.lines import CommandLines
from amelia.drive.ending import Seen, conclude
from amelia.drive.stream import MESSAGE_LIMIT, Heard, Line, Result
from amelia.model.agents import Ending, Said, SessionId, SessionStarted, ToolStarted, TurnEnded, Usage, Used

S1 = SessionId("s1")


def hear(lines: CommandLines, *printed: str) -> list[Heard]:
    return [heard for line in printed for heard in lines(Line(line.encode()))]


def ended(*printed: str, code: int | None = 0, errors: str = "", **facts: Any) -> Result | None:
    lines = CommandLines(None, **facts)
    hear(lines, *printed)
    return lines.conclude(code, errors)


def turn(*printed: str) -> TurnEnded:
    """Returns the end of a turn of a program that printed these lines and left without an error."""
    result = ended(*printed)
    assert result is not None
    return conclude(Seen(None).plus(result), exit_code=0, ended_by=None, errors="")


def plain(**message: object) -> str:
    return json.dumps(message)


def test_what_is_no_plain_line_is_text_and_control_sequences_are_none() -> None:
    lines = CommandLines(None)
    assert hear(lines, "\x1b[1mI work.\x1b[0m\r", "", '{"a": 1}', "[1]") == [
        Said("I work."),
        Said('{"a": 1}'),
        Said("[1]"),
    ]


def test_a_plain_line_is_what_it_says() -> None:
    tool = plain(type="tool", state="started", name="edit", detail="a.py")
    use = plain(type="usage", input=7, output=8)
    assert hear(CommandLines(None), tool, use) == [ToolStarted("edit", "a.py"), Used(Usage(7, 8))]


def test_the_session_that_a_program_was_given_is_told_before_anything_else() -> None:
    lines = CommandLines(S1, model="m")
    assert hear(lines, "", "hello", "more") == [SessionStarted(S1, "m"), Said("hello"), Said("more")]


def test_a_session_that_the_program_names_itself_counts_instead() -> None:
    named = plain(type="session", session="its-own", model="m")
    assert hear(CommandLines(S1), named) == [SessionStarted(SessionId("its-own"), "m")]


@pytest.mark.parametrize(
    "printed",
    [
        ['{"status": "completed"}'],
        ["I did it.", '{"status": "old"}', "and then", '{"status": "completed"}', "Tokens: 100 sent."],
        ["I did it.", "```json", '{"status": "completed"}', "```", "Tokens: 100 sent."],
        ["I did it:", "{", '  "status": "completed"', "}", ""],
        ["  if x {", "  }", '{"status":', ' "completed"}'],
    ],
)
def test_the_report_is_the_last_json_object(printed: list[str]) -> None:
    found = turn(*printed)
    assert (found.ending, found.report) == (Ending.OK, {"status": "completed"})
    assert found.text == "\n".join(printed)


def test_a_report_in_a_plain_line_is_the_report() -> None:
    lines = CommandLines(None)
    [result] = hear(lines, plain(type="result", report={"status": "completed"}))
    assert isinstance(result, Result)
    hear(lines, '{"status": "other"}')
    assert lines.conclude(0, "") is None


def test_a_text_without_an_object_is_no_report() -> None:
    found = turn("I did it.", "[1, 2]", "{ x }")
    assert (found.report, found.text) == (None, "I did it.\n[1, 2]\n{ x }")


@pytest.mark.parametrize(
    ("last", "ending"),
    [
        ("litellm.AuthenticationError: AuthenticationError: OpenAIException - no", Ending.AUTH),
        ("Error: 429 Too Many Requests", Ending.LIMITED),
        ("Error: 503 Service Unavailable", Ending.LIMITED),
        ('{"error": {"type": "overloaded_error", "message": "Overloaded"}}', Ending.LIMITED),
        ("litellm.ContextWindowExceededError: litellm.BadRequestError: 400", Ending.OVERFLOW),
        ("litellm.NotFoundError: no model m", Ending.MODEL_NOT_FOUND),
    ],
)
def test_a_program_that_ends_well_with_a_notice_of_a_fault_had_that_fault(last: str, ending: Ending) -> None:
    found = ended("Aider v0.86.2", "Model: m", "", last, "Check your settings.", "")
    assert found is not None
    assert (found.ending, found.detail) == (ending, last)


def test_work_that_is_about_faults_is_none() -> None:
    found = ended("I looked at the client.", "Error: 429 was not retried; I added that.", "Tokens: 100 sent.")
    assert found is not None
    assert found.ending is Ending.OK


def test_a_report_outweighs_what_stands_before_it() -> None:
    found = ended("Error: 429 Too Many Requests", '{"status": "completed"}')
    assert found is not None
    assert found.ending is Ending.OK


@pytest.mark.parametrize(
    ("printed", "errors", "ending"),
    [
        (["x"], "trace\nError: 401 Unauthorized\n", Ending.AUTH),
        (["Error: connect ECONNREFUSED 127.0.0.1:1"], "", Ending.LIMITED),
        (["x"], "You have reached your weekly limit\n", Ending.LIMITED),
        (["x"], "unknown option --frobnicate\n", None),
        (['{"status": "completed"}'], "", None),
        (["Error: 400 Bad Request"], "", None),
        (["x"], "12:00:01 ERROR agent: HTTP 429 from the provider\n", Ending.LIMITED),
        (["You have reached your weekly limit"], "", Ending.LIMITED),
        (["FAILED test_door.py - AssertionError: not 503 Service Unavailable"], "", None),
        (["The door says: 401 Unauthorized, and its test fails."], "", None),
        (["Error: 401 was not handled; I added that."], "", None),
    ],
)
def test_a_program_that_fails_may_say_why_in_its_last_lines(
    printed: list[str], errors: str, ending: Ending | None
) -> None:
    found = ended(*printed, code=1, errors=errors)
    assert (found.ending if found else None) is ending


@pytest.mark.parametrize(
    "words", ["No session found with id 7", "Error: conversation 7 does not exist", "unknown session: 7"]
)
def test_a_session_that_is_gone_is_told_only_of_one_that_was_to_go_on(words: str) -> None:
    gone = ended(code=1, errors=words, is_resumed=True)
    assert gone == Result(ending=Ending.SESSION_LOST, detail=words)
    assert ended(code=1, errors=words) is None


def test_a_program_that_was_killed_says_nothing_of_its_end() -> None:
    assert ended('{"status": "completed"}', code=None) is None


def test_of_a_flood_the_end_is_kept() -> None:
    flood = ["x" * (MESSAGE_LIMIT // 10)] * 30
    assert turn(*flood, '{"status": "completed"}').report == {"status": "completed"}
    whole = ended(*flood)
    assert whole is not None
    assert len(whole.text) <= MESSAGE_LIMIT


def test_of_a_flood_of_empty_lines_no_more_is_kept_than_of_any_other() -> None:
    lines, empty = CommandLines(None), Line(b"")
    for _ in range(MESSAGE_LIMIT + 10):
        lines(empty)
    whole = lines.conclude(0, "")
    assert whole is not None
    assert len(whole.text) < MESSAGE_LIMIT


@given(st.lists(st.binary(max_size=60) | st.sampled_from([b"{", b"}", b'{"a": 1}', b"```json", b"```"])))
def test_any_output_is_taken(printed: list[bytes]) -> None:
    lines = CommandLines(S1)
    for line in printed:
        lines(Line(line))
    lines.conclude(0, "")
    lines.conclude(1, "\n".join(line.decode("utf-8", "replace") for line in printed))
