"""How runs and attempts end: expected failure as a value, every limit with a name of its own."""

from dataclasses import dataclass
from enum import StrEnum


class Cause(StrEnum):
    """Why an attempt was not good enough."""

    AGENT_FAILED = "agent_failed"
    CHECKS_FAILED = "checks_failed"
    NO_CHANGES = "no_changes"
    REJECTED = "rejected"
    QUESTION = "question"
    CONFLICT = "conflict"
    MERGE_RED = "merge_red"
    FIX_REFUSED = "fix_refused"


class Reason(StrEnum):
    """Why a unit is parked, or a run has stopped."""

    REVIEW_LIMIT = "review_limit"
    VERIFY_LIMIT = "verify_limit"
    AGENT_LIMIT = "agent_limit"
    USAGE_LIMIT = "usage_limit"
    NO_CHANGES = "no_changes"
    NO_PROGRESS = "no_progress"
    REVIEW_UNAVAILABLE = "review_unavailable"
    CONFLICT = "conflict"
    MERGE_RED = "merge_red"
    QUESTION = "question"
    QUESTION_LIMIT = "question_limit"
    FIX_REFUSED = "fix_refused"
    BROKEN = "broken"
    WORK_LOST = "work_lost"
    BLOCKED = "blocked"
    BRANCH_RED = "branch_red"
    BRANCH_MOVED = "branch_moved"
    BUDGET = "budget"
    AUTH = "auth"
    NO_CREDIT = "no_credit"
    MODEL_NOT_FOUND = "model_not_found"
    AGENT_UNUSABLE = "agent_unusable"
    DISK_FULL = "disk_full"
    APPROVAL = "approval"
    PLAN_ERRORS = "plan_errors"
    NO_PLAN = "no_plan"

    @property
    def meaning(self) -> str:
        """Says in one sentence what happened."""
        return _MEANINGS[self]


_MEANINGS = {
    Reason.REVIEW_LIMIT: "the reviewer still asked for changes after the last attempt",
    Reason.VERIFY_LIMIT: "the checks still failed after the last attempt",
    Reason.AGENT_LIMIT: "the agent did not finish its work in any of its attempts",
    Reason.USAGE_LIMIT: "the agent reached its usage limit again and again",
    Reason.NO_CHANGES: "the agent changed nothing",
    Reason.NO_PROGRESS: "two attempts ended with the same tree, results and findings",
    Reason.REVIEW_UNAVAILABLE: "no valid answer came from the reviewer",
    Reason.CONFLICT: "the work conflicts with what landed meanwhile, twice",
    Reason.MERGE_RED: "the tests fail on top of what landed meanwhile, twice",
    Reason.QUESTION: "it needs your answer",
    Reason.QUESTION_LIMIT: "it asked more questions than it may",
    Reason.FIX_REFUSED: "the fix by hand did not pass verification",
    Reason.BROKEN: "a step could not be carried out",
    Reason.WORK_LOST: "the work that was to go on is in no repository any more",
    Reason.BLOCKED: "what is left depends on work that was skipped",
    Reason.BRANCH_RED: "the whole branch does not pass verification",
    Reason.BRANCH_MOVED: "somebody else moved the branch of this run",
    Reason.BUDGET: "the budget is used up",
    Reason.AUTH: "the agent's login or key is refused",
    Reason.NO_CREDIT: "the credit at the agent's provider is used up",
    Reason.MODEL_NOT_FOUND: "the provider does not have the agent's model",
    Reason.AGENT_UNUSABLE: "the agent's program cannot be used as it is installed",
    Reason.DISK_FULL: "there is no room left on a disk",
    Reason.APPROVAL: "the plan needs your approval",
    Reason.PLAN_ERRORS: "the plan cannot run as it is",
    Reason.NO_PLAN: "the architect gave no valid plan in any of its attempts",
}


class Result(StrEnum):
    """How a run stands when nothing of it is under way."""

    COMPLETED = "completed"
    HALTED = "halted"
    NEEDS_HUMAN = "needs_human"
    ABORTED = "aborted"
    CANCELLED = "cancelled"


FINAL = frozenset({Result.COMPLETED, Result.ABORTED, Result.CANCELLED})


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended, or what it waits for; `halted` and `needs_human` go on when a person acts."""

    result: Result
    reason: Reason | None = None

    @property
    def is_final(self) -> bool:
        """Says whether nothing can change this any more."""
        return self.result in FINAL

    @property
    def in_words(self) -> str:
        """Says it to a person: `completed`, `halted: the budget is used up`."""
        result = "waits for you" if self.result is Result.NEEDS_HUMAN else str(self.result)
        return f"{result}: {self.reason.meaning}" if self.reason else result

    def __str__(self) -> str:
        return f"{self.result}({self.reason})" if self.reason else str(self.result)
