"""Texts with slots: filled once, character for character, and only if they have the right ones."""

import re
from pathlib import Path

import pytest

from amelia.context.texts import Texts, misfit, slots_of
from amelia.model.errors import ConfigError
from amelia.record.prompts import keep_texts, kept_texts, own_texts, shipped_texts
from amelia.record.runs import RunDirectory
from amelia.run.turns import PROMISE


def fill(text: str, **values: str) -> str:
    return Texts({"one": text}).fill("one", **values)


def test_a_value_is_never_looked_at_again() -> None:
    value = r"{{b}} {a} {0} \1 \g<0> %s $x ${x} `{{a}}`"
    assert fill("<{{a}}|{{b}}>", a=value, b="B") == f"<{value}|B>"


def test_a_line_with_nothing_to_say_is_left_out() -> None:
    text = "one\n\n{{a}}\n\ntwo {{a}}!\n{{b}}\n"
    assert fill(text, a="", b="") == "one\n\ntwo !"
    assert fill(text, a="A", b="B") == "one\n\nA\n\ntwo A!\nB"


def test_a_value_that_is_missing_is_a_mistake() -> None:
    with pytest.raises(KeyError):
        fill("{{a}}")


def test_a_text_that_stands_for_another_has_the_same_slots() -> None:
    assert misfit("{{b}} and {{a}}, {{a}}", "{{a}} {{b}}") is None
    assert misfit("{{a}} {{c}}", "{{a}} {{b}}") == "{{b}} is missing, {{c}} is not known"


def test_only_lower_case_names_in_two_braces_are_slots() -> None:
    assert slots_of('{{a}} {{a_b}} {c} {{ d }} {{E}} {"items": [{"x": 1}]}') == {"a", "a_b"}


def test_a_persons_text_takes_the_place_of_one_that_comes_with_amelia(tmp_path: Path) -> None:
    mine = tmp_path / "mine.md"
    mine.write_text("Say it again: {{problem}}", encoding="utf-8")
    texts = own_texts({"repair": str(mine)})
    assert texts.fill("repair", problem="x") == "Say it again: x"
    assert texts.by_name["rules"] == shipped_texts().by_name["rules"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("repiar", "x", "there is no such text"),
        ("repair", "no slot", r"\{\{problem\}\} is missing"),
        ("repair", "{{problem}} {{more}}", r"\{\{more\}\} is not known"),
        ("repair", "{{problem}}" + "x" * 200_000, "more than 100000 characters"),
        ("repair", b"\xff", "cannot be read"),
        ("repair", None, "cannot be read"),
    ],
)
def test_a_text_that_does_not_fit_is_an_error(
    tmp_path: Path, name: str, text: str | bytes | None, said: str
) -> None:
    mine = tmp_path / "mine.md"
    if text is not None:
        mine.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ConfigError, match=said):
        own_texts({name: str(mine)})


def test_a_run_keeps_the_texts_it_began_with(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    first = Texts({**shipped_texts().by_name, "repair": "Again: {{problem}}"})
    keep_texts(directory, first)
    keep_texts(directory, shipped_texts())
    assert kept_texts(directory) == first


def test_a_kept_text_with_other_slots_than_are_filled_today_gives_way(tmp_path: Path) -> None:
    directory = RunDirectory(tmp_path)
    keep_texts(directory, Texts({"repair": "Again: {{what}}"}))
    assert kept_texts(directory) == shipped_texts()


def test_the_page_about_prompts_names_every_text_and_its_slots() -> None:
    page = (Path(__file__).parents[3] / "docs/concepts/context.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([^|]*) \|$", page, re.MULTILINE)
    told = {name: frozenset(re.findall(r"`(\w+)`", slots)) for name, slots in rows}
    assert told == {name: slots_of(text) for name, text in shipped_texts().by_name.items()}


def test_an_agent_is_told_the_promise_that_it_is_understood_by() -> None:
    assert f"`{PROMISE}`" in shipped_texts().by_name["lifecycle"]
