"""Which fault of a provider a text tells."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amelia.drive.fault_texts import NOTICE_LIMIT, fault_of_message, fault_of_provider, faults_in
from amelia.model.agents import Ending

AUTH, LIMITED, FAILED = Ending.AUTH, Ending.LIMITED, Ending.FAILED
NO_CREDIT, NO_MODEL, OVERFLOW = Ending.NO_CREDIT, Ending.MODEL_NOT_FOUND, Ending.OVERFLOW
RETRYING = "Info: Request failed due to a transient API error. Retrying..."


def first(text: str) -> Ending | None:
    return next(faults_in(text), None)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("401 wrong key", AUTH),
        ("HTTP 403: no", AUTH),
        ("Last error: 429 slow down", LIMITED),
        ("error (503)", LIMITED),
        ('{"error":{"code":503,"status":"UNAVAILABLE"}}', LIMITED),
        ("litellm.AuthenticationError: AuthenticationError: OpenAIException - no", AUTH),
        ("openai.RateLimitError: slow down", LIMITED),
        ("anthropic.InternalServerError", LIMITED),
        ("Incorrect API key provided: abc.", AUTH),
        ("API key not valid. Please pass a valid API key.", AUTH),
        ("The OAuth token has expired", AUTH),
        ("Your credit balance is too low to access the API", NO_CREDIT),
        ("HTTP 402: insufficient credits", NO_CREDIT),
        ('429 {"error":{"message":"You exceeded your quota","code":"insufficient_quota"}}', NO_CREDIT),
        ("litellm.NotFoundError: AnthropicException - model: big", NO_MODEL),
        ('HTTP 404: {"error":{"type":"not_found_error","message":"model: big"}}', NO_MODEL),
        ("litellm.ContextWindowExceededError: litellm.BadRequestError: 400", OVERFLOW),
        ('400 {"error":{"code":"context_length_exceeded"}}', OVERFLOW),
        ("API Error: 400 prompt is too long: 210000 tokens > 200000 maximum", OVERFLOW),
        ("Error: the request exceeds the available context size", OVERFLOW),
        ("HTTP 429: too many input tokens for a minute", LIMITED),
        ("You exceeded your current quota, please check your plan", LIMITED),
        ("You have reached your weekly limit", LIMITED),
        ("The model is currently overloaded", LIMITED),
        ("Internal Server Error", LIMITED),
        ("connect ECONNREFUSED 127.0.0.1:11434", LIMITED),
        ("TypeError: fetch failed", LIMITED),
        ("BadRequestError: 3 is no text", FAILED),
        ("400 status code (no body)", FAILED),
        ("API Error: 400 {'type': 'api_error'}", FAILED),
        ("line 403 of roof.py is too long", None),
        ("disk quota exceeded", None),
        ("TypeError: x is undefined", None),
    ],
)
def test_an_error_tells_its_fault_by_a_status_a_name_or_a_sentence(text: str, fault: Ending | None) -> None:
    assert first(text) is fault


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (f"{RETRYING}{RETRYING}Error: Authentication failed with provider at http://x/v1 (HTTP 401).", AUTH),
        (f"{RETRYING}Error: Failed to get response from the AI model. Last error: 500 it broke", LIMITED),
        ("Ran into this error: Rate limit exceeded: slow down.\n\nPlease retry.", LIMITED),
        ("[API Error: 401 wrong key]", AUTH),
        ("Conversation run failed for id=7: litellm.AuthenticationError: no", AUTH),
        ("litellm.InternalServerError: it broke", LIMITED),
        ("⚠ Error: 503 Service Unavailable", LIMITED),
        ("✗ Provider error (429): slow down", LIMITED),
        ("Request failed with status code 429", LIMITED),
        ("Failed to connect to the server: connect ECONNREFUSED 127.0.0.1:1", LIMITED),
        ("HTTP 529", LIMITED),
        ('{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}', LIMITED),
        ("Error: I cannot find the plan.", None),
        ("Error: HTTP 400", None),
        ("Error handling for HTTP 429 is missing in client.py.", None),
        ("I fixed the error handling: HTTP 429 is retried now.", None),
        ("All done: whoever has no key sees `401 Unauthorized`.", None),
        ("Authentication failed attempts are logged now (HTTP 401).", None),
        ("Request failed tests pass again; 503 is retried.", None),
        ("429 files were changed.", None),
        ("404 pages are rendered now", None),
        ("Error: 404 no model big", NO_MODEL),
        ("Error: 402 Payment Required", NO_CREDIT),
        ("[API Error: 400 This model's maximum context length is 8 tokens.]", OVERFLOW),
        ("Error: HTTP 429 was not retried in client.py; I added that.", None),
        ("Error: 401 Unauthorized came from the door. I've fixed the lock, and all 12 tests pass.", None),
        ("API Error: 429 is now mapped to a pause.", None),
        ("404: the page now says so.", None),
        ("500: added a page for it", None),
        ("AssertionError: 503 Service Unavailable", None),
        ("Error: test_door fails with HTTP 401", None),
        ("Login failed because nobody was there: I created a user.", None),
        ("Fix for openai.RateLimitError (HTTP 429): wait.", None),
        ('Error: HTTP 401 is what the door says.\n\n{"status": "completed", "summary": "x"}', None),
        ('Error: 429 slow down\n{"message": "slow down", "code": 429}', LIMITED),
        ("I encountered an error: HTTP 429. Upgrade now, or retry later.", LIMITED),
        ("Error: " + "the roof leaks, " * NOTICE_LIMIT + "HTTP 429", None),
        ("", None),
    ],
)
def test_a_message_is_a_notice_of_a_fault_if_it_opens_as_one_and_tells_one(
    text: str, fault: Ending | None
) -> None:
    assert fault_of_message(text, is_idle=False) is fault
    assert fault_of_message(text, is_idle=True) is fault


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("You've hit your usage limit. Try again at 5pm.", LIMITED),
        ("Rate limit reached for big-model in organization x", LIMITED),
        ("The server had an error while processing your request. Sorry about that!", LIMITED),
        ("Overloaded", LIMITED),
        ("429 Too Many Requests", LIMITED),
        ("401 Incorrect API key provided", AUTH),
        ("Not logged in · Please run /login", AUTH),
        ("invalid x-api-key", AUTH),
    ],
)
def test_a_sentence_of_a_provider_is_a_notice_only_of_an_agent_that_did_nothing(
    text: str, fault: Ending
) -> None:
    assert fault_of_message(text, is_idle=True) is fault
    assert fault_of_message(text, is_idle=False) is None


@pytest.mark.parametrize(
    "text",
    [
        "Invalid API key handling is missing in login.py.",
        "Connection error handling is tested now.",
        "500 lines, and nothing wrong with any of them.",
        "The login is required before the door opens.",
        "You have reached your goal; the limit of doors holds.",
    ],
)
def test_a_sentence_about_such_things_is_no_notice(text: str) -> None:
    assert fault_of_message(text, is_idle=True) is None


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("no credentials for this tenant", [AUTH]),
        ("upstream connect error or disconnect/reset before headers", [LIMITED]),
        ("something internal broke", [LIMITED]),
        ("the context is too long, try again with less", [OVERFLOW]),
        ("the model big does not exist", [NO_MODEL]),
        ("7 is above the maximum of doors", [FAILED]),
        ("scripted fault", []),
    ],
)
def test_what_is_known_to_be_said_by_a_provider_is_read_by_its_words(text: str, faults: list[Ending]) -> None:
    assert list(fault_of_provider(text)) == faults


@given(st.text(max_size=300))
def test_any_text_is_taken(text: str) -> None:
    list(faults_in(text))
    list(fault_of_provider(text))
    for is_idle in (True, False):
        assert fault_of_message(text, is_idle=is_idle) is not FAILED


@pytest.mark.parametrize("piece", ["a ", "Error ", "error: ", "you have ", "a.b.", "HTTP status ", "{ "])
def test_no_text_takes_long(piece: str) -> None:
    text = piece * 200_000
    list(faults_in(text[:NOTICE_LIMIT]))
    fault_of_message(text, is_idle=True)
