"""What an error on the way to a model means for the turn."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.exceptions import (
    ContentFilterError,
    ModelAPIError,
    ModelAuthenticationError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelNotFoundError,
    ModelOverloadedError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestTimeout,
    ModelServerError,
    ModelTimeoutError,
    UnexpectedModelBehavior,
    UserError,
)

from amelia.drive.api.faults import read_fault
from amelia.model.agents import Ending

NOW = datetime(2026, 11, 15, 12, 0, 0, tzinfo=UTC)


def limited(**headers: str) -> ModelHTTPError:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return ModelHTTPError(429, "m1", {"message": "slow down"}, headers=named)


@pytest.mark.parametrize(
    ("error", "ending"),
    [
        (ModelHTTPError(401, "m1"), Ending.AUTH),
        (ModelHTTPError(403, "m1"), Ending.AUTH),
        (ModelAuthenticationError("m1", "no"), Ending.AUTH),
        (ModelHTTPError(408, "m1"), Ending.LIMITED),
        (ModelHTTPError(429, "m1"), Ending.LIMITED),
        (ModelHTTPError(500, "m1"), Ending.LIMITED),
        (ModelHTTPError(529, "m1"), Ending.LIMITED),
        (ModelRateLimitError("m1", "slow"), Ending.LIMITED),
        (ModelQuotaExceededError("m1", "paid out"), Ending.NO_CREDIT),
        (ModelOverloadedError("m1", "full"), Ending.LIMITED),
        (ModelServerError("m1", "oops"), Ending.LIMITED),
        (ModelConnectionError("m1", "refused"), Ending.LIMITED),
        (ModelTimeoutError("m1", "silence"), Ending.LIMITED),
        (ModelRequestTimeout("m1", 3.0), Ending.LIMITED),
        (ModelHTTPError(400, "m1"), Ending.FAILED),
        (ModelHTTPError(404, "m1"), Ending.MODEL_NOT_FOUND),
        (ModelNotFoundError("m1", "no such model"), Ending.MODEL_NOT_FOUND),
        (ModelHTTPError(402, "m1"), Ending.NO_CREDIT),
        (ModelHTTPError(413, "m1"), Ending.OVERFLOW),
        (ModelContextWindowExceededError("m1", "full"), Ending.OVERFLOW),
        (
            ModelHTTPError(400, "m1", {"error": {"message": "exceeds the available context size"}}),
            Ending.OVERFLOW,
        ),
        (ModelHTTPError(400, "m1", {"message": "prompt is too long: 9 > 8"}), Ending.OVERFLOW),
        (UserError("no such thing"), Ending.UNUSABLE),
        (OSError("context length"), Ending.FAILED),
        (ModelAPIError("m1", "strange"), Ending.FAILED),
        (ContentFilterError("no"), Ending.FAILED),
        (UnexpectedModelBehavior("garbage"), Ending.FAILED),
        (OSError("the disk"), Ending.FAILED),
    ],
    ids=lambda value: value.__class__.__name__ if isinstance(value, Exception) else str(value),
)
def test_an_error_ends_the_turn_as_what_it_is(error: Exception, ending: Ending) -> None:
    fault = read_fault(error, NOW)
    assert fault.ending is ending
    assert fault.detail
    assert fault.may_pass == (ending is Ending.LIMITED)


@pytest.mark.parametrize(
    ("headers", "until"),
    [
        ({}, None),
        ({"retry_after": "90"}, "2026-11-15T12:01:30+00:00"),
        ({"retry_after_ms": "1500"}, "2026-11-15T12:00:01+00:00"),
        ({"retry_after": "0"}, "2026-11-15T12:00:00+00:00"),
        ({"anthropic_ratelimit_requests_reset": "2026-11-15T14:00:00Z"}, "2026-11-15T14:00:00+00:00"),
        ({"anthropic_ratelimit_requests_reset": "2026-11-15T14:00:00"}, "2026-11-15T14:00:00+00:00"),
        ({"anthropic_ratelimit_unified_reset": "1794751200"}, "2026-11-15T14:00:00+00:00"),
        ({"x_ratelimit_reset_requests": "6m0s"}, "2026-11-15T12:06:00+00:00"),
        ({"x_ratelimit_reset_requests": "1d2h3m4.5s"}, "2026-11-16T14:03:04+00:00"),
        ({"x_ratelimit_reset_requests": "1500ms"}, "2026-11-15T12:00:01+00:00"),
        ({"ratelimit_reset": "30"}, "2026-11-15T12:00:30+00:00"),
        (
            {"x_ratelimit_reset_requests": "1s", "x_ratelimit_reset_tokens": "2h"},
            "2026-11-15T14:00:00+00:00",
        ),
        ({"retry_after": "1", "x_ratelimit_reset_tokens": "2h"}, "2026-11-15T12:00:01+00:00"),
        ({"x_ratelimit_reset_requests": "soon"}, None),
        ({"x_ratelimit_reset_requests": ""}, None),
        ({"x_ratelimit_reset_requests": "1e300"}, None),
        ({"x_ratelimit_reset_requests": "nan"}, None),
        ({"x_ratelimit_remaining_requests": "5"}, None),
    ],
)
def test_a_limit_says_when_it_ends_in_every_way_providers_write_it(
    headers: dict[str, str], until: str | None
) -> None:
    assert read_fault(limited(**headers), NOW).until == until


def test_a_reset_in_the_past_is_now() -> None:
    fault = read_fault(limited(x_ratelimit_reset="2020-01-01T00:00:00Z"), NOW)
    assert fault.until == "2026-11-15T12:00:00+00:00"


@given(st.text())
def test_no_header_is_too_strange(text: str) -> None:
    assert read_fault(limited(x_ratelimit_reset=text), NOW).ending is Ending.LIMITED


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"message": "no such model"}, "404: no such model"),
        ({"type": "error", "error": {"message": "no such model"}}, "404: no such model"),
        ("<html>", "404: <html>"),
        ({"error": {"code": 1}}, "404: status_code: 404, model_name: m1, body: {'error': {'code': 1}}"),
        (None, "404: status_code: 404, model_name: m1, body: None"),
    ],
)
def test_the_detail_is_what_the_provider_says(body: object, detail: str) -> None:
    assert read_fault(ModelHTTPError(404, "m1", body), NOW).detail == detail


def test_an_error_without_words_is_named_and_a_long_one_is_cut() -> None:
    assert read_fault(TimeoutError(), NOW).detail == "TimeoutError"
    assert len(read_fault(OSError("x" * 100_000), NOW).detail) == 2_000
