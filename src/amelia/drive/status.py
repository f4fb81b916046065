"""What the status of an HTTP answer means for a turn; the same for every provider."""

from amelia.model.agents import REFUSED, Ending

_NOT_NOW = frozenset({408, 429})
_SERVER_ERROR = 500


def ending_of_status(status: int) -> Ending:
    """Returns how a turn ends that is answered so: a person must act, waiting helps, or neither does."""
    if status in REFUSED:
        return Ending.AUTH
    return Ending.LIMITED if status in _NOT_NOW or status >= _SERVER_ERROR else Ending.FAILED
