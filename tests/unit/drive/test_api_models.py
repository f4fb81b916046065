"""From the name of a model to one that can be asked, and what an answer of it costs."""

from decimal import Decimal
from typing import Any

import pytest
from pydantic_ai import ModelResponse, RequestUsage
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel

from amelia.drive.api.assignment import Assignment
from amelia.drive.api.models import NO_KEY, MissingKeyError, ModelError, check_model, make_model, usage_of
from amelia.model.agents import Usage

URL = "http://127.0.0.1:1/v1"


@pytest.fixture(autouse=True)
def without_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("model", "base_url", "kind"),
    [
        ("openai:gpt-5", None, OpenAIResponsesModel),
        ("openai:gpt-5", URL, OpenAIChatModel),
        ("openai-chat:gpt-5", None, OpenAIChatModel),
        ("openai-responses:gpt-5", URL, OpenAIResponsesModel),
        ("anthropic:m1", URL, AnthropicModel),
    ],
)
def test_a_model_is_asked_as_its_provider_is_asked(model: str, base_url: str | None, kind: type) -> None:
    made = make_model(Assignment(model=model, base_url=base_url), "k")
    assert isinstance(made, kind)
    assert made.model_name == model.partition(":")[2]
    assert base_url is None or str(made.base_url).rstrip("/") == base_url


@pytest.mark.parametrize("model", ["openai:qwen", "openai-responses:qwen", "anthropic:m1"])
def test_a_server_of_ones_own_needs_no_key_and_gets_none_of_another(
    monkeypatch: pytest.MonkeyPatch, model: str
) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(name, "the-key-of-somebody-else")
    made = make_model(Assignment(model=model, base_url=URL), None)
    assert isinstance(made, OpenAIChatModel | OpenAIResponsesModel | AnthropicModel)
    client: Any = made.client
    assert client.api_key == NO_KEY


@pytest.mark.parametrize("model", ["openai:gpt-5", "anthropic:m1"])
def test_a_missing_key_is_told_from_a_wrong_name(model: str) -> None:
    with pytest.raises(MissingKeyError, match="there is no key for this provider"):
        make_model(Assignment(model=model), None)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("nobody:m1", "Unknown provider: nobody"),
        ("groq:m1", "install"),  # its library is not installed
        ("deepseek:m1", "takes no base URL"),
    ],
)
def test_a_model_that_cannot_be_asked_says_why(model: str, reason: str) -> None:
    with pytest.raises(ModelError, match=reason) as caught:
        make_model(Assignment(model=model, base_url=URL), "k")
    assert not isinstance(caught.value, MissingKeyError)


def test_a_model_that_can_be_asked_has_a_version() -> None:
    assert check_model(Assignment(model="openai:m1", base_url=URL))[0].isdigit()
    assert check_model(Assignment(model="anthropic:m1", has_key=True))


def answer(**usage: Any) -> ModelResponse:
    return ModelResponse(parts=[], usage=RequestUsage(**usage))


def test_usage_is_what_the_provider_counts() -> None:
    priced = answer(input_tokens=7, output_tokens=8, cost=Decimal("0.25"))
    assert usage_of(priced, None) == Usage(7, 8, 0.25)
    assert usage_of(answer(input_tokens=7, output_tokens=8), None) == Usage(7, 8, None)


def test_nobody_knows_the_price_of_a_server_of_ones_own() -> None:
    assert usage_of(answer(input_tokens=7, output_tokens=8, cost=Decimal("0.25")), URL) == Usage(7, 8, None)


def test_a_provider_that_does_not_count_used_nobody_knows_what() -> None:
    assert usage_of(answer(), None) is None
