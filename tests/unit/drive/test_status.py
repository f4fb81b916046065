import pytest

from amelia.drive.status import ending_of_status
from amelia.model.agents import Ending


@pytest.mark.parametrize(
    ("statuses", "ending"),
    [
        ((401, 403), Ending.AUTH),
        ((408, 429, 500, 503, 529, 599), Ending.LIMITED),
        ((402,), Ending.NO_CREDIT),
        ((404,), Ending.MODEL_NOT_FOUND),
        ((413,), Ending.OVERFLOW),
        ((302, 400, 422, 499), Ending.FAILED),
    ],
)
def test_a_status_means_the_same_for_every_provider(statuses: tuple[int, ...], ending: Ending) -> None:
    assert [ending_of_status(status) for status in statuses] == [ending] * len(statuses)
