"""Every prompt, word for word, in `snapshots/`; and whatever others say in it stays theirs.

`pytest tests/unit/context/test_every_prompt.py --inline-snapshot=fix` writes the files anew.
"""

import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import external_file

from amelia.context.prompts import developer_prompt
from amelia.context.review_prompts import reviewer_prompt
from amelia.context.texts import Texts, slots_of
from amelia.model.plan import Mode
from amelia.record.prompts import shipped_texts
from tellings import Words, a_task, all_of, assignment, every_prompt, named_in, outside

TEXTS = shipped_texts()
PROMPTS = every_prompt(TEXTS, Words())
SNAPSHOTS = Path(__file__).parent / "snapshots"
PIECES = (
    *("{{goal}}", "{{rules}}", "{0}", "{", "}", "%s", "%(x)s", "${x}", "\\1", "\\g<0>", "\\"),
    *("`", "```", "``````", "~~~", "```markdown", "\n", "\r", "\r\n", "\n\n", "\t", " ", "\x0b", "\u2028"),
    *("\x1b[2J", "\x1b]8;;http://x\x07", "\x00", "\x7f", "\u202e", "\u2066", "\u200b", "é", "加", "🐙"),
    *("## Instructions", "</system>", "- [ ] Task 9:", "HEAD~1", "<!--"),
)
SAID = st.lists(st.sampled_from(PIECES), max_size=12).map(lambda pieces: f"It says{''.join(pieces)}.")


@pytest.mark.parametrize("name", PROMPTS)
def test_a_prompt_is_word_for_word_what_it_was(name: str) -> None:
    assert PROMPTS[name] == external_file(SNAPSHOTS / f"{name}.md", format=".txt")


def test_every_snapshot_is_of_a_prompt() -> None:
    assert {path.stem for path in SNAPSHOTS.iterdir()} == set(PROMPTS)


def test_every_text_is_part_of_a_prompt() -> None:
    marked = {
        name: f"<{name}>\n" + "\n".join(f"{{{{{slot}}}}}" for slot in sorted(slots_of(text)))
        for name, text in TEXTS.by_name.items()
    }
    told = "\n".join(every_prompt(Texts(marked), Words()).values())
    assert [name for name in marked if f"<{name}>" not in told] == []


@pytest.mark.parametrize("name", PROMPTS)
def test_a_prompt_leaves_no_slot_open_and_names_no_commit_by_a_distance(name: str) -> None:
    assert slots_of(PROMPTS[name]) == frozenset()
    assert "HEAD~" not in PROMPTS[name]


@pytest.mark.slow
@given(said=SAID)
def test_whatever_others_say_is_told_character_for_character_and_says_nothing_outside_its_fence(
    said: str,
) -> None:
    words, neutral = all_of(said), all_of("x.")
    told, plain = every_prompt(TEXTS, words), every_prompt(TEXTS, neutral)
    for name, prompt in told.items():
        assert outside(prompt) == outside(plain[name]), name
        assert named_in(prompt, words) == named_in(plain[name], neutral), name
    assert named_in("\n".join(told.values()), words) == set(Words.__slots__)


@pytest.mark.slow
@given(said=SAID)
def test_a_title_a_goal_a_criterion_and_a_path_are_one_line_whatever_they_hold(said: str) -> None:
    def told(text: str, mode: Mode) -> tuple[str, str]:
        task = replace(a_task(Words()), title=text, acceptance_criteria=(text,), files_to_create=(text,))
        placed = assignment(mode, Words(), task)
        placed = replace(placed, goal=text, unit=replace(placed.unit, title=text))
        return developer_prompt(TEXTS, placed), reviewer_prompt(TEXTS, placed, checks="", diff="")

    line = " ".join(said.split())
    for mode in Mode:
        for prompt, plain in zip(told(said, mode), told("x", mode), strict=True):
            assert len(outside(prompt).splitlines()) == len(outside(plain).splitlines())
            assert line in prompt or mode is Mode.SINGLE


@pytest.mark.slow
def test_a_megabyte_survives_in_every_prompt_and_costs_no_time() -> None:
    said = "{{plan}} `x` \x1b[0m \u202e {0}\n" * 48_000 + "."
    assert len(said) > 1_000_000
    words, neutral = all_of(said), all_of("x.")
    plain = every_prompt(TEXTS, neutral)
    start = time.process_time()
    told = every_prompt(TEXTS, words)
    assert time.process_time() - start < 10
    assert {name: named_in(prompt, words) for name, prompt in told.items()} == {
        name: named_in(prompt, neutral) for name, prompt in plain.items()
    }
