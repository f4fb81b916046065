"""After a crash: what should not be there any more is ended or kept, so that the run can go on.

Agents and tests that the last coordinator left behind are ended, lane by lane, before anybody works there
again. What a turn that was cut off had written is kept under a ref of its own.
"""

from anyio import to_thread

from amelia.model.commands import Place
from amelia.model.plan import UnitId
from amelia.model.state import Driving, RunState
from amelia.run.workshop import Workshop
from amelia.system.git_places import Purpose
from amelia.system.process import end_stale


async def recover(shop: Workshop, run: RunState, *, seq: int) -> None:
    """Clears up what the last coordinator left, whose journal ends at an event."""
    for lane in range(1, shop.facts.policy.parallel_workers + 1):
        await end_stale(shop.directory.lock(lane))
    for unit in run.open:
        state = run.units[unit]
        if isinstance(state, Driving) and state.is_busy:
            await to_thread.run_sync(lambda u=unit, s=state: _keep_interrupted(shop, u, s, seq=seq))


def _keep_interrupted(shop: Workshop, unit: UnitId, state: Driving, *, seq: int) -> None:
    track = state.track
    at = Place(unit, lane=track.lane, attempt=track.attempt, base=track.base)
    lane = shop.lane(at, Purpose.WORK)
    if not lane.index.exists():
        return  # it was cut off before the workspace was there
    shop.keep(at, lane, f"{shop.ref(at)}-interrupted-{seq}")
