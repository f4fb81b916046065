"""How long an agent's limit is waited out. The time is the agent's word, so it is read with care."""

from datetime import UTC, datetime, timedelta

_WITHOUT_A_TIME = timedelta(minutes=5)
_LONGEST = timedelta(days=8)  # weekly limits are the longest that providers have


def wait_until(said: str | None, now: datetime) -> str:
    """Returns the moment at which a limited agent is asked again, as ISO text with a zone."""
    try:
        moment = datetime.fromisoformat(said or "")
        moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
        return min(moment, now + _LONGEST).isoformat()
    except (ValueError, OverflowError):
        return (now + _WITHOUT_A_TIME).isoformat()
