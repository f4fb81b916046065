import pytest

from amelia.drive.programs import keys_for, passed_variables, reject_max_turns
from amelia.model.agents import AgentSettings
from amelia.model.errors import ConfigError

DEFAULTS = ("FIRST_KEY", "SECOND_KEY")
SOMEWHERE = "http://here.test"


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OUR_KEY", "ours")
    monkeypatch.setenv("FIRST_KEY", "first")
    monkeypatch.setenv("SECOND_KEY", "")


@pytest.mark.parametrize(
    ("settings", "given"),
    [
        (AgentSettings(), {"FIRST_KEY": "first"}),
        (AgentSettings(key="OUR_KEY"), {"OUR_KEY": "ours"}),
        (AgentSettings(key="OUR_KEY", base_url=SOMEWHERE), {"OUR_KEY": "ours"}),
        (AgentSettings(base_url=SOMEWHERE), {}),
    ],
)
def test_an_address_of_the_settings_gets_no_key_of_somebody_else(
    settings: AgentSettings, given: dict[str, str]
) -> None:
    assert keys_for("any", settings, DEFAULTS) == given


@pytest.mark.parametrize("name", ["SECOND_KEY", "NO_SUCH_KEY"])
def test_a_key_that_the_settings_name_must_be_there(name: str) -> None:
    with pytest.raises(ConfigError, match=f"driver any: .*{name} is not set"):
        keys_for("any", AgentSettings(key=name), DEFAULTS)


def test_only_variables_that_are_set_are_passed_on() -> None:
    assert passed_variables(AgentSettings(passes=("OUR_KEY", "NOT_SET"))) == {"OUR_KEY": "ours"}


def test_a_bound_of_turns_that_cannot_be_kept_is_an_error() -> None:
    reject_max_turns("any", AgentSettings())
    with pytest.raises(ConfigError, match="driver any: max_turns = 7"):
        reject_max_turns("any", AgentSettings(max_turns=7))
