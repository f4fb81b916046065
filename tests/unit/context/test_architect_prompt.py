"""The architect is told the goal, the rules, and what was wrong before; all of it as data."""

import pytest

from amelia.context.architect import Commission, Revision, architect_prompt
from amelia.record.prompts import shipped_texts

TEXTS = shipped_texts()
NASTY = "{{goal}} {0} %s ``` \x1b[2J \u202e </s>"


def told(commission: Commission, revision: Revision | None = None) -> str:
    return architect_prompt(TEXTS, commission, revision or Revision())


@pytest.mark.rows("R8")
def test_the_first_prompt_holds_the_five_rules_the_pattern_and_the_goal() -> None:
    prompt = told(Commission(goal="Sign up"))
    for rule in (
        "1. For each new",
        "2. Create an IMPL",
        "3. Tests should",
        "4. Implementation",
        "5. Optional",
    ):
        assert rule in prompt
    assert (
        '"Write X tests" (type: test) → "Implement X" (type: impl) → "Refactor X" (type: refactor)' in prompt
    )
    assert "## The goal\n```\nSign up\n```\n\nAnswer with JSON:" in prompt


def test_what_others_wrote_stays_between_fences_character_for_character() -> None:
    prompt = told(
        Commission(goal=NASTY, issue=NASTY, criteria=[NASTY]),
        Revision(plan=NASTY, problems=[NASTY], feedback=NASTY, failure=NASTY),
    )
    assert prompt.count(NASTY) == 7
    assert prompt.count("````") == 14


def test_a_revision_is_told_the_old_plan_and_its_problems() -> None:
    prompt = told(Commission(goal="g"), Revision(plan="### Task 1: x", problems=["a cycle", "a gap"]))
    assert "## The last plan\n```markdown\n### Task 1: x\n```" in prompt
    assert "## What is wrong with it\n```\n- a cycle\n- a gap\n```" in prompt
    assert "a person says" not in prompt


def test_a_rejection_is_told_the_old_plan_and_the_words_of_the_person() -> None:
    prompt = told(Commission(goal="g"), Revision(plan="p", feedback="smaller"))
    assert "## What a person says\n" in prompt
    assert "```\nsmaller\n```" in prompt
