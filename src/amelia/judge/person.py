"""What a person did by hand is judged by what runs, not by who may change what.

A person may correct a wrong test, leave a file out or touch a protected one; it is noted. What is executed
must be green all the same.
"""

from dataclasses import replace

from amelia.model.evidence import Note, NoteCode, ProblemCode, Verdict

_THEIRS_TO_DECIDE = frozenset(
    {
        ProblemCode.NO_CHANGES,
        ProblemCode.MISSING_FILE,
        ProblemCode.OUT_OF_SCOPE,
        ProblemCode.PROTECTED_PATH,
        ProblemCode.NO_NEW_TESTS,
        ProblemCode.NOT_RED,
        ProblemCode.MISSING_TEST,
        ProblemCode.DISABLED_TEST,
        ProblemCode.WEAKENED_TESTS,
    }
)


def of_a_person(verdict: Verdict) -> Verdict:
    """Returns the verdict on a person's own work."""
    held = tuple(problem for problem in verdict.problems if problem.code not in _THEIRS_TO_DECIDE)
    noted = tuple(
        Note(NoteCode.DECIDED_BY_PERSON, problem.message, problem.file)
        for problem in verdict.problems
        if problem.code in _THEIRS_TO_DECIDE
    )
    return replace(verdict, passed=not held, problems=held, notes=(*verdict.notes, *noted))
