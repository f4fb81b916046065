"""Again, give up, or ask: what follows from an attempt that was not good enough.

Every loop ends: attempts and their iterations have limits, questions and landings that were refused have
theirs, and a round that changed nothing (the same tree, results and findings as one before) is the last: of
its attempt if that went on from what there was, else of the unit.
"""

from amelia.model.events import UnitIterated, UnitParked, UnitRetried
from amelia.model.git import CommitId
from amelia.model.outcome import Cause, Reason
from amelia.model.plan import UnitId
from amelia.model.policy import Policy, RetrySession
from amelia.model.state import Failing

_AT_THE_LIMIT = {
    Cause.AGENT_FAILED: Reason.AGENT_LIMIT,
    Cause.CHECKS_FAILED: Reason.VERIFY_LIMIT,
    Cause.NO_CHANGES: Reason.NO_CHANGES,
    Cause.REJECTED: Reason.REVIEW_LIMIT,
    Cause.QUESTION: Reason.QUESTION,
    Cause.CONFLICT: Reason.CONFLICT,
    Cause.MERGE_RED: Reason.MERGE_RED,
    Cause.FIX_REFUSED: Reason.FIX_REFUSED,
}
_FOR_A_PERSON = frozenset({Cause.QUESTION, Cause.FIX_REFUSED})
_AT_LANDING = frozenset({Cause.CONFLICT, Cause.MERGE_RED})
COUNTED = frozenset(Cause) - _FOR_A_PERSON - _AT_LANDING
"""What uses an attempt up."""


def after_failure(
    unit: UnitId, failing: Failing, *, policy: Policy, tip: CommitId
) -> UnitRetried | UnitIterated | UnitParked:
    """Decides what becomes of a unit whose attempt was not good enough."""
    cause, track = failing.cause, failing.track
    if failing.asking is not None and track.questions < policy.questions:
        return UnitParked(unit, Reason.QUESTION, failing.feedback, failing.asking.question)
    if failing.asking is not None:
        return UnitParked(unit, Reason.QUESTION_LIMIT, failing.feedback)
    is_repeated = failing.fingerprint is not None and failing.fingerprint in track.seen
    may_iterate = cause is Cause.CHECKS_FAILED and track.iteration < policy.iterations and not is_repeated
    if may_iterate and failing.work is not None:
        return UnitIterated(unit, track.attempt + 1, track.iteration + 1, failing.work.commit)
    if cause in _AT_LANDING:
        is_last = track.refusals > policy.conflict_retries
    else:
        is_last = cause in _FOR_A_PERSON or track.spent + 1 >= policy.attempts
    if is_last:
        return UnitParked(unit, _AT_THE_LIMIT[cause], failing.feedback)
    if is_repeated and track.iteration == 1:
        reason = Reason.NO_CHANGES if cause is Cause.NO_CHANGES else Reason.NO_PROGRESS
        return UnitParked(unit, reason, failing.feedback)
    base = tip if cause in _AT_LANDING else track.base
    keeps = policy.keeps_workspace and failing.work is not None and base == track.base
    start = failing.work.commit if keeps and failing.work is not None else base
    session = failing.session if keeps and policy.retry_session is RetrySession.SAME else None
    return UnitRetried(unit, track.attempt + 1, cause, base=base, start=start, session=session)
