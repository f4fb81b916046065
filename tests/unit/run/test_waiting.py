"""How long a limit is waited out, whatever the agent says of it."""

from datetime import UTC, datetime, timedelta

import pytest

from amelia.run.waiting import wait_until

NOW = datetime(2026, 11, 15, 12, 0, tzinfo=UTC)
A_LITTLE = (NOW + timedelta(minutes=1)).isoformat()
VERY_LONG = (NOW + timedelta(days=8)).isoformat()


@pytest.mark.parametrize(
    ("said", "until"),
    [
        ("2026-11-15T15:00:00+00:00", "2026-11-15T15:00:00+00:00"),
        ("2026-11-15T15:00:00Z", "2026-11-15T15:00:00+00:00"),
        ("2026-11-15T15:00:00-05:00", "2026-11-15T15:00:00-05:00"),
        ("2026-11-15 15:00", "2026-11-15T15:00:00+00:00"),
        ("2020-01-01T00:00:00Z", "2020-01-01T00:00:00+00:00"),
        ("9999-12-31T23:59:59-14:00", VERY_LONG),
        ("2026-12-24", VERY_LONG),
        (None, A_LITTLE),
        ("", A_LITTLE),
        ("soon", A_LITTLE),
        ("0000-00-00", A_LITTLE),
        ("15:00", A_LITTLE),
    ],
)
def test_the_moment_is_the_one_that_was_said_if_that_can_be(said: str | None, until: str) -> None:
    assert wait_until(said, NOW) == until
    assert datetime.fromisoformat(until).tzinfo is not None
