"""How long an agent's limit is waited out. The time is the agent's word, so it is read with care."""

from datetime import UTC, datetime, timedelta

import anyio

_WITHOUT_A_TIME = timedelta(minutes=1)
_LONGEST = timedelta(days=8)  # weekly limits are the longest that providers have

_LONGEST_PAUSE = 300.0


async def wait_out(until: str, *, now: datetime, rests: int) -> None:
    """Waits until a limited agent may be asked again."""
    left = datetime.fromisoformat(until) - now
    await anyio.sleep(max(_least_rest(rests), left.total_seconds()))


def _least_rest(rests: int) -> float:
    """Returns how many seconds a limit is waited out at least: none the first time, then longer and longer.

    An agent that names a time that has passed, and is limited again, must not be asked without end.
    """
    return min(2.0 ** min(rests - 1, 10) - 1, _LONGEST_PAUSE)


def wait_until(said: str | None, now: datetime) -> str:
    """Returns the moment at which a limited agent is asked again, as ISO text with a zone."""
    try:
        moment = datetime.fromisoformat(said or "")
        moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        return min(moment, now + _LONGEST).isoformat()
    except (ValueError, OverflowError):
        return (now + _WITHOUT_A_TIME).isoformat()
