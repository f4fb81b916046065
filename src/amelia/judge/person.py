"""What a person did by hand is judged by what runs, not by who may change what.

A person may correct a wrong test or touch a protected file; it is noted. What is executed must be green all
the same. That nothing was changed, or a file of the plan is missing, is a doubt that the person has to set
aside in so many words.
"""

from collections.abc import Collection
from dataclasses import replace

from amelia.model.evidence import Note, NoteCode, ProblemCode, Verdict
from amelia.model.interventions import Accepted

_THEIRS_TO_DECIDE = frozenset(
    {
        ProblemCode.OUT_OF_SCOPE,
        ProblemCode.PROTECTED_PATH,
        ProblemCode.NO_NEW_TESTS,
        ProblemCode.NOT_RED,
        ProblemCode.MISSING_TEST,
        ProblemCode.DISABLED_TEST,
        ProblemCode.WEAKENED_TESTS,
    }
)
DOUBTS = {
    ProblemCode.NO_CHANGES: Accepted.UNCHANGED,
    ProblemCode.MISSING_FILE: Accepted.MISSING_FILES,
}
"""The problems of work by hand that only its person can set aside, and how they are called then."""


def of_a_person(verdict: Verdict, accepted: Collection[Accepted] = ()) -> Verdict:
    """Returns the verdict on a person's own work; doubts that they set aside are noted."""
    theirs = _THEIRS_TO_DECIDE | {code for code, doubt in DOUBTS.items() if doubt in accepted}
    held = tuple(problem for problem in verdict.problems if problem.code not in theirs)
    noted = tuple(
        Note(NoteCode.DECIDED_BY_PERSON, problem.message, problem.file)
        for problem in verdict.problems
        if problem.code in theirs
    )
    return replace(verdict, passed=not held, problems=held, notes=(*verdict.notes, *noted))
