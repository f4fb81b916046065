"""What the status of an HTTP answer means for a turn; the same for every provider."""

from amelia.model.agents import REFUSED, Ending

_MEANT = {
    **dict.fromkeys(REFUSED, Ending.AUTH),
    402: Ending.NO_CREDIT,
    404: Ending.MODEL_NOT_FOUND,
    408: Ending.LIMITED,
    413: Ending.OVERFLOW,
    429: Ending.LIMITED,
}
_SERVER_ERROR = 500


def ending_of_status(status: int) -> Ending:
    """Returns how a turn ends that is answered so: a person must act, waiting helps, or neither does."""
    return _MEANT.get(status, Ending.LIMITED if status >= _SERVER_ERROR else Ending.FAILED)
