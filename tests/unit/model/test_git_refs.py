import re

from hypothesis import example, given
from hypothesis import strategies as st

from amelia.model.git import attempt_ref, base_ref, branch_ref, ref_component, tip_ref

ANY = st.text(alphabet=st.characters(exclude_categories=()))


@given(ANY)
@example("a.lock")
@example("x" * 300)
@example("@")
@example("base")
@example("tip")
@example("..")
def test_any_text_is_a_component_that_git_accepts(name: str) -> None:
    component = ref_component(name)
    assert re.fullmatch(r"[A-Za-z0-9%_-]+(\.[A-Za-z0-9%_-]+)*", component)
    assert not component.endswith(".lock")
    assert len(component) <= 200
    assert component not in {"base", "tip"}


@given(ANY, ANY)
@example("base", "%62ase")
@example("", "%-")
@example("a.b", "a%2Eb")
def test_different_texts_are_different_components(one: str, other: str) -> None:
    assert (ref_component(one) == ref_component(other)) == (one == other)


def test_usual_names_stay_readable() -> None:
    for name in ("1", "phase-2", "T-01", "1.2", "plan", "task_3"):
        assert ref_component(name) == name


def test_refs_have_the_documented_form() -> None:
    assert branch_ref("r1") == "refs/heads/amelia/r1"
    assert base_ref("r1") == "refs/amelia/r1/base"
    assert tip_ref("r1") == "refs/amelia/r1/tip"
    assert attempt_ref("r1", "a b", 2) == "refs/amelia/r1/a%20b/2"
