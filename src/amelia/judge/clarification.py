"""A developer's question as a person is asked it: bounded, with a moment instead of minutes."""

from datetime import datetime, timedelta

from amelia.judge.answers import Clarification
from amelia.model.questions import Question

_LONGEST = 4000
_LONGEST_OPTION = 200
_MOST_OPTIONS = 9
_MOST_MINUTES = 7 * 24 * 60


def question_of(asked: Clarification | None, now: datetime) -> Question | None:
    """Returns the question a report ends with; a default that is not among its options does not count."""
    if asked is None or not asked.question.strip():
        return None
    options = dict.fromkeys(text for each in asked.options if (text := each.strip()[:_LONGEST_OPTION]))
    default = (asked.default or "").strip()[:_LONGEST_OPTION] or None
    is_offered = not options or default in options
    minutes = asked.deadline_minutes
    return Question(
        text=asked.question.strip()[:_LONGEST],
        options=tuple(options)[:_MOST_OPTIONS],
        default=default if is_offered else None,
        deadline=None if minutes is None else _moment(minutes, now),
    )


def _moment(minutes: int, now: datetime) -> str:
    return (now + timedelta(minutes=min(max(minutes, 0), _MOST_MINUTES))).isoformat()
