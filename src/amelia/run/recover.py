"""After a crash: agents and tests that the last coordinator left behind are ended.

Lane by lane, before anybody works there again. What they had written is kept by whoever fills the lane next.
"""

from amelia.run.workshop import Workshop
from amelia.system.process import end_stale


async def recover(shop: Workshop) -> None:
    """Ends what is left of the last coordinator's steps."""
    for lane in range(1, shop.facts.policy.parallel_workers + 1):
        await end_stale(shop.desk.directory.lock(lane))
