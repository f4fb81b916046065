"""What models cost, by the installed table of prices, and what stays unknown."""

import subprocess  # noqa: TID251 - a Python without the table, and one without a network
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amelia.drive.prices import price_of
from amelia.model.agents import AgentSettings, Usage
from amelia.model.prices import Price

PRICE = Price(fresh=2.0, cached=0.5, written=3.0, output=10.0)
ASKING = """
import sys
{before}
from amelia.drive.prices import price_of
from amelia.model.agents import AgentSettings
print(price_of("codex", AgentSettings(model="gpt-5.5")))
"""


def ask_elsewhere(before: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", ASKING.format(before=before)], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def price(driver: str, model: str | None, base_url: str | None = None) -> Price | None:
    return price_of(driver, AgentSettings(model=model, base_url=base_url))


@pytest.mark.parametrize(
    ("driver", "model"),
    [
        ("codex", "gpt-5.5"),
        ("codex", "gpt-5.1-codex"),
        ("claude", "claude-sonnet-4-5"),
        ("api", "openai:gpt-5"),
        ("api", "anthropic:claude-sonnet-4-5"),
    ],
)
def test_a_model_that_people_use_has_a_price(driver: str, model: str) -> None:
    found = price(driver, model)
    assert found is not None
    assert 0 < found.cached < found.fresh < found.output < 0.001
    assert found.written >= found.fresh


@pytest.mark.parametrize(
    ("driver", "model"),
    [
        ("codex", None),
        ("codex", ""),
        ("codex", "no-such-model"),
        ("codex", "claude-sonnet-4-5"),
        ("claude", "sonnet"),
        ("api", "gpt-5"),
        ("api", "nobody:gpt-5"),
        ("api", ":"),
        ("api", "mistral:mistral-nemo:free"),  # it is bounded by its tokens
        ("acp", "gpt-5"),
        ("script", "gpt-5"),
        ("auto", "gpt-5"),
    ],
)
def test_what_nobody_knows_has_no_price(driver: str, model: str | None) -> None:
    assert price(driver, model) is None


def test_what_somebody_elses_server_asks_is_unknown() -> None:
    assert price("codex", "gpt-5.5", "http://127.0.0.1:1/v1") is None


def test_a_sum_over_many_requests_does_not_count_as_one_long_request() -> None:
    found = price("codex", "gpt-5.5")
    assert found is not None
    once, often = found.cost(Usage(1000, 100)), found.cost(Usage(10_000_000, 1_000_000))
    assert often == pytest.approx(10_000 * once)


@pytest.mark.slow
def test_without_the_table_there_is_no_price() -> None:
    assert ask_elsewhere("sys.modules['genai_prices'] = None") == "None"


@pytest.mark.slow
def test_prices_are_found_without_a_network() -> None:
    forbid = "sys.addaudithook(lambda name, _: exit(3) if name.startswith('socket.') else None)"
    assert ask_elsewhere(forbid).startswith("Price(")


@pytest.mark.parametrize(
    ("cached", "written", "cost"),
    [
        (0, 0, 100 * 2.0 + 100.0),
        (40, 0, 60 * 2.0 + 40 * 0.5 + 100.0),
        (40, 50, 10 * 2.0 + 40 * 0.5 + 50 * 3.0 + 100.0),
        (200, 0, 100 * 0.5 + 100.0),  # more than there was
        (40, 200, 40 * 0.5 + 60 * 3.0 + 100.0),
    ],
)
def test_every_token_is_paid_once_at_its_own_price(cached: int, written: int, cost: float) -> None:
    assert PRICE.cost(Usage(100, 10), cached=cached, written=written) == cost


@given(*[st.integers(0, 10**15)] * 4)
def test_no_cost_is_negative(tokens_in: int, tokens_out: int, cached: int, written: int) -> None:
    assert PRICE.cost(Usage(tokens_in, tokens_out), cached=cached, written=written) >= 0
