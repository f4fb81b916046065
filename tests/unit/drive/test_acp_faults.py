"""What an error of an agent of the Agent Client Protocol means for the turn."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amelia.drive.acp.faults import ending_of, ending_of_silence, ending_shown, failure_of, words_of
from amelia.model.agents import Ending

Table = dict[str, Any]


def said(text: str) -> Table:
    return {"code": -32603, "message": "Internal error", "data": {"details": text}}


@pytest.mark.parametrize(
    ("error", "ending"),
    [
        ({"code": -32000, "message": "Authentication required"}, Ending.AUTH),
        ({"code": -32603, "message": "x", "data": {"errorKind": "authentication_failed"}}, Ending.AUTH),
        ({"code": 401, "message": "x"}, Ending.AUTH),
        ({"code": -32603, "message": "x", "data": {"errorKind": "overloaded"}}, Ending.LIMITED),
        ({"code": -32603, "message": "x", "data": {"codexErrorInfo": "usageLimitExceeded"}}, Ending.LIMITED),
        ({"code": 429, "message": "x"}, Ending.LIMITED),
        ({"code": -32603, "message": "x", "data": {"httpStatusCode": 503}}, Ending.LIMITED),
        ({"code": -32603, "data": {"codexErrorInfo": {"failed": {"httpStatusCode": 429}}}}, Ending.LIMITED),
        ({"code": -32603, "message": "HTTP 429", "data": {"errorKind": "invalid_request"}}, Ending.FAILED),
        ({"code": 400, "message": "HTTP 429"}, Ending.FAILED),
        ({"code": -32603, "message": "no such model"}, Ending.FAILED),
        ({"code": -32603, "data": {"codexErrorInfo": {"httpStatusCode": 3}}}, Ending.FAILED),
        ({}, Ending.FAILED),
    ],
)
def test_the_kind_and_the_code_of_an_error_say_how_the_turn_ended(error: Table, ending: Ending) -> None:
    assert ending_of(error) is ending
    assert words_of(error)


@pytest.mark.parametrize(
    ("text", "ending"),
    [
        ("HTTP 429", Ending.LIMITED),
        ("http/1.1 503: try later", Ending.LIMITED),
        ("HTTP error 401", Ending.AUTH),
        ("unexpected status 401 Unauthorized: bad key", Ending.AUTH),
        ("exceeded retry limit, last status: 429", Ending.LIMITED),
        ("status code 529", Ending.LIMITED),
        ('{"statusCode": 403}', Ending.AUTH),
        ("API Error: 403 forbidden", Ending.AUTH),
        ("API Error: 529", Ending.LIMITED),
        ("the provider says 429 Too Many Requests", Ending.LIMITED),
        ('{"error": {"type": "overloaded_error"}}', Ending.LIMITED),
        ('{"error":{"type":"authentication_error"}}', Ending.AUTH),
        ("Rate limit exceeded. Try again later.", Ending.LIMITED),
        ("Claude AI usage limit reached|1763251200", Ending.LIMITED),
        ("You've hit your usage limit.", Ending.LIMITED),
        ("Not logged in · Please run /login", Ending.AUTH),
        ("Invalid API key · Fix external API key", Ending.AUTH),
        ("HTTP 400", Ending.FAILED),
        ('API Error: 400 {"type": "invalid_request_error"}', Ending.FAILED),
        ("exit status 1", Ending.FAILED),
        ("HTTP 200", Ending.FAILED),
        ("HTTP 42900", Ending.FAILED),
    ],
)
def test_a_text_counts_in_the_shapes_that_programs_write(text: str, ending: Ending) -> None:
    assert ending_of(said(text)) is ending


@pytest.mark.parametrize(
    "text",
    [
        "roof.py has only 500 lines",
        "line 403: unexpected indent",
        "disk quota exceeded",
        "the test of the rate limit fails",
        "test_rate_limit exceeded its time",
        "the door is not logged in the table of doors",
        "the service is unauthorized to open the roof",
        "too many doors (429) for one house",
    ],
)
def test_a_text_that_only_speaks_of_such_things_is_a_failure(text: str) -> None:
    assert ending_of(said(text)) is Ending.FAILED


WORDS = "roof.py door has lines line only quota exceeded limit overloaded of error code (see ) , / -".split()
NUMBERS = st.sampled_from([401, 403, 408, 429, 500, 502, 503, 504, 529]).map(str)


@given(st.lists(st.sampled_from(WORDS) | NUMBERS).map(" ".join))
def test_a_number_in_a_sentence_is_never_a_limit_or_a_login(text: str) -> None:
    sentence = f"There {text}"
    assert ending_of(said(sentence)) is Ending.FAILED
    assert ending_of({"code": -32603, "message": sentence}) is Ending.FAILED


@pytest.mark.parametrize(
    ("error", "ending"),
    [
        ({"message": "Internal error", "data": {"details": "401 wrong"}}, Ending.AUTH),
        ({"message": "Internal error: Overloaded"}, Ending.LIMITED),
        ({"message": "Internal error: no access", "data": {"errorName": "ProviderAuthError"}}, Ending.AUTH),
        ({"message": "Internal error: bad upstream", "data": {"errorName": "APIError"}}, Ending.LIMITED),
        ({"message": "Internal error: bad upstream", "data": {"errorName": "DiskError"}}, Ending.FAILED),
        ({"message": "x", "data": {"errorName": "ContextOverflowError"}}, Ending.OVERFLOW),
        ({"message": "x", "data": {"codexErrorInfo": "contextWindowExceeded"}}, Ending.OVERFLOW),
        ({"message": "Internal error: 7 is no text", "data": {"errorName": "APIError"}}, Ending.FAILED),
        (
            {"message": "x", "data": {"details": "run failed: litellm.RateLimitError: slow down"}},
            Ending.LIMITED,
        ),
    ],
)
def test_what_agents_pass_on_of_their_provider_counts(error: Table, ending: Ending) -> None:
    assert ending_of({"code": -32603, **error}) is ending


def test_the_words_of_an_error_are_said_once() -> None:
    error = {"message": "Internal error", "data": {"details": "no disk", "message": "Internal error"}}
    assert words_of(error) == "Internal error: no disk"


@pytest.mark.parametrize(
    ("failure", "ending"),
    [
        ({"category": "access"}, Ending.AUTH),
        ({"category": "limit", "actions": ["retry"]}, Ending.LIMITED),
        ({"category": "limit", "actions": ["new_session"]}, Ending.OVERFLOW),
        ({"category": "service", "actions": []}, Ending.LIMITED),
        ({"category": "connection"}, Ending.LIMITED),
        ({"category": "connection", "title": "door 404 of 422 is open"}, Ending.LIMITED),
        ({"category": "request"}, Ending.FAILED),
        ({"category": "service", "title": "unexpected status 400 Bad Request"}, Ending.FAILED),
        ({"category": "service", "title": '{"type": "invalid_request_error"}'}, Ending.FAILED),
        ({}, Ending.FAILED),
    ],
)
def test_a_failure_that_is_told_with_the_answer_counts(failure: Table, ending: Ending) -> None:
    told = {"severity": "error", "title": "it broke", **failure}
    answer = {"_meta": {"jetbrains": {"air": {"sessionFailure": told}}}}
    assert failure_of(answer) == (ending, told["title"])


@pytest.mark.parametrize(
    "answer",
    [{}, {"_meta": 3}, {"_meta": {"jetbrains": {"air": {"sessionFailure": {"severity": "warning"}}}}}],
)
def test_an_answer_without_a_failure_is_none(answer: Table) -> None:
    assert failure_of(answer) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
DATA = st.dictionaries(st.sampled_from(["errorKind", "codexErrorInfo", "details", "httpStatusCode"]), JSON)


@pytest.mark.slow
@given(JSON, JSON | DATA)
def test_any_error_is_taken(anything: object, data: object) -> None:
    error = {"code": anything, "message": anything, "data": data}
    assert words_of(error)
    assert ending_of(error) in Ending
    assert failure_of({"_meta": anything}) is None


@pytest.mark.parametrize(
    ("seconds", "has_spoken", "ending"),
    [(200.0, False, Ending.LIMITED), (200.0, True, None), (1.0, False, None)],
)
def test_a_turn_that_is_over_without_a_word_after_a_long_time_had_no_answer(
    *, seconds: float, has_spoken: bool, ending: Ending | None
) -> None:
    assert ending_of_silence(seconds, has_spoken=has_spoken) is ending


@pytest.mark.parametrize(
    ("session", "ending"),
    [
        ('{"statusCode": 500} {"statusCode" :401}', Ending.AUTH),
        ('{"statusCode": 200}', None),
        ('{"statusCode": "401"}', None),
        ("", None),
    ],
)
def test_the_last_status_that_a_session_shows_counts(session: str, ending: Ending | None) -> None:
    assert ending_shown(session) is ending
