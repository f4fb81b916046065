"""What outranks what: defaults, the user's file, the project's, profiles, variables, options."""

import os
import re
from pathlib import Path

import pytest

from amelia.config import Options, load, load_project, load_settings
from amelia.config.environment import OURS, PLACES, said_by, slips, variable_of
from amelia.config.fields import SETTLED, default_of, settings_of
from amelia.config.found import Entry, Kind
from amelia.config.keys import PROFILE
from amelia.config.merge import Layer, merge
from amelia.model.agents import AgentSettings, Role
from amelia.model.errors import ConfigError
from amelia.model.plan import Mode
from amelia.model.settings import Settings, TddRule

SOURCE = Path(__file__).parents[3] / "src" / "amelia"


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's own file."""
    for name in [name for name in os.environ if name.startswith("AMELIA_")]:
        monkeypatch.delenv(name)
    file = tmp_path / "config.toml"
    file.write_text("")
    monkeypatch.setenv("AMELIA_CONFIG", str(file))
    return file


@pytest.fixture
def project(tmp_path: Path) -> Path:
    place = tmp_path / "project"
    (place / ".git").mkdir(parents=True)
    (place / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    return place


def named(profile: str) -> Options:
    return Options(profile=profile, values={})


def origin(place: Path, key: str, options: Options | None = None) -> str:
    return str(load(place, options or Options(values={})).held[key].origin)


def test_every_layer_outranks_those_below_it_and_says_so(
    project: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def holds(options: Options | None = None) -> tuple[object, str]:
        entry = load(project, options or Options(values={})).held["parallel_workers"]
        return entry.value, str(entry.origin)

    assert "parallel_workers" not in load(project).held
    own.write_text("\nparallel_workers = 2\n")
    assert holds() == (2, f"{own}:2")
    (project / ".project-config.json").write_text('{"parallel_workers": 3}')
    assert holds() == (3, str(project / ".project-config.json"))
    file = project / "amelia.toml"
    file.write_text("parallel_workers = 4\n[profiles.a]\nparallel_workers = 5\n")
    assert holds() == (4, f"{file}:1")
    assert holds(named("a")) == (5, f"{file}:3")
    monkeypatch.setenv("AMELIA_PARALLEL_WORKERS", "6")
    assert holds(named("a")) == (6, "AMELIA_PARALLEL_WORKERS")
    option = Options(profile="a", values={"parallel_workers": ("--parallel", 7)})
    assert holds(option) == (7, "--parallel")


def test_tables_are_merged_key_by_key_and_lists_are_replaced(project: Path, own: Path) -> None:
    own.write_text('[verify]\nsetup = "make"\nprotected = ["a", "b"]\n')
    (project / "amelia.toml").write_text(
        '[verify]\nprotected = ["c"]\n[profiles.p.verify]\nscope = "enforce"\n'
    )
    verify = load_settings(project, named("p")).run.verify
    assert (verify.setup, verify.protected, verify.scope) == (("make",), ("c",), "enforce")


@pytest.mark.rows("T14")
def test_a_profile_may_say_everything(project: Path, own: Path) -> None:
    own.write_text(
        """
        [profiles.night]
        tdd = "warn"
        driver = "codex"
        max_task_review_iterations = 9
        [profiles.night.agents.reviewer]
        driver = "claude"
        model = "opus"
        command = "/opt/claude"
        trusts_repository = true
        [profiles.night.budget]
        run_cost = 3
        [profiles.night.modes.lifecycle]
        attempts = 7
        """
    )
    assert load_settings(project) == Settings()
    settings = load_settings(project, named("night"))
    assert settings.plan.tdd is TddRule.WARN
    assert settings.run.agents[Role.DEVELOPER] == AgentSettings(driver="codex")
    assert settings.run.agents[Role.REVIEWER] == AgentSettings(
        driver="claude", model="opus", command=("/opt/claude",), trusts_repository=True
    )
    assert settings.run.budget.run.cost == 3.0
    attempts = {mode: policy.attempts for mode, policy in settings.run.policies.items()}
    assert attempts == {Mode.SINGLE: 9, Mode.TASKS: 9, Mode.PHASED: 2, Mode.LIFECYCLE: 7}


def test_a_profile_that_a_file_chooses_is_part_of_that_file(project: Path, own: Path) -> None:
    own.write_text('profile = "mine"\ntdd = "strict"\n[profiles.mine]\ntdd = "off"\nparallel_workers = 2\n')
    assert load_settings(project).plan.tdd is TddRule.OFF
    (project / "amelia.toml").write_text('tdd = "warn"\n')
    settings = load_settings(project)
    assert (settings.plan.tdd, settings.run.parallel_workers) == (TddRule.WARN, 2)


def test_a_profile_that_is_named_outranks_both_files(project: Path, own: Path) -> None:
    own.write_text('[profiles.cheap]\nparallel_workers = 1\ntdd = "off"\n')
    (project / "amelia.toml").write_text('parallel_workers = 8\n[profiles.cheap]\ntdd = "warn"\n')
    settings = load_settings(project, named("cheap"))
    assert settings.run.parallel_workers == 1
    assert settings.plan.tdd is TddRule.WARN


def test_a_file_without_the_profile_that_is_named_goes_on_with_its_own_choice(
    project: Path, own: Path
) -> None:
    own.write_text('profile = "work"\n[profiles.work.agents]\ndriver = "api"\nkey = "WORK_KEY"\n')
    text = 'profile = "usual"\n[profiles.usual]\ntdd = "off"\n[profiles.ci]\nparallel_workers = 3\n'
    (project / "amelia.toml").write_text(text)
    settings = load_settings(project, named("ci"))
    assert settings.run.agents[Role.DEVELOPER].key == "WORK_KEY"
    assert settings.run.parallel_workers == 3
    assert settings.plan.tdd is TddRule.STRICT


def test_a_profile_can_be_named_by_a_variable_and_an_option_outranks_it(
    project: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own.write_text('[profiles.a]\ntdd = "off"\n[profiles.b]\ntdd = "warn"\n')
    monkeypatch.setenv("AMELIA_PROFILE", "a")
    assert load_settings(project).plan.tdd is TddRule.OFF
    assert load_settings(project, named("b")).plan.tdd is TddRule.WARN
    monkeypatch.setenv("AMELIA_PROFILE", "")
    assert load_settings(project).plan.tdd is TddRule.STRICT


def test_an_unknown_profile_is_told_those_there_are(
    project: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match="--profile: there is no profile 'fast'") as caught:
        load(project, named("fast"))
    assert caught.value.hint == "there is none; [profiles.NAME] makes one"
    own.write_text("[profiles.thorough]\n")
    (project / "amelia.toml").write_text("[profiles.cheap]\n[profiles.thorough]\n")
    monkeypatch.setenv("AMELIA_PROFILE", "thorogh")
    with pytest.raises(ConfigError, match="AMELIA_PROFILE: there is no profile 'thorogh'") as caught:
        load(project)
    assert caught.value.hint == "did you mean thorough? there are cheap, thorough"


def test_a_file_chooses_among_its_own_profiles_only(project: Path, own: Path) -> None:
    own.write_text(
        "[profiles.trusted.agents]\ntrusts_repository = true\n[profiles.trusted.budget]\nrun_cost = 1\n"
    )
    (project / "amelia.toml").write_text('profile = "trusted"\n')
    with pytest.raises(ConfigError, match=r"amelia\.toml: profile: there is no profile 'trusted'"):
        load(project)
    (project / "amelia.toml").write_text('profile = "trusted"\n[profiles.trusted]\ntdd = "off"\n')
    settings = load_settings(project)
    assert settings.plan.tdd is TddRule.OFF
    assert not settings.run.agents[Role.DEVELOPER].trusts_repository


@pytest.mark.parametrize("key", [key for key, reader in PROFILE.leaves() if reader.is_users])
def test_a_repository_does_not_decide_in_a_profile_either_though_nobody_chooses_it(
    project: Path, key: str
) -> None:
    (project / "amelia.toml").write_text(f'[profiles.p]\n{key} = "X"\n')
    with pytest.raises(ConfigError, match=rf"profiles\.p\.{key} is not for a repository to decide"):
        load(project)


def test_a_wrong_profile_is_an_error_though_nobody_chooses_it(project: Path) -> None:
    file = project / "amelia.toml"
    for text, message in [
        ("[profiles.p]\ntddd = 1\n", "unknown key profiles.p.tddd"),
        ("[profiles.p]\nparallel_workers = 0\n", "profiles.p.parallel_workers must be a whole number"),
        ("[profiles.p.profiles.q]\n", "unknown key profiles.p.profiles"),
        ('[profiles."a b"]\n', "profiles holds a name that is none: 'a b'"),
        ("profiles = 3\n", "profiles must be a table, not 3"),
        ("[profiles]\np = 3\n", "profiles.p must be a table, not 3"),
        ("profile = 3\n", "profile must be a text that is not empty, not 3"),
    ]:
        file.write_text(text)
        with pytest.raises(ConfigError, match=re.escape(f"{file}: {message}")):
            load(project)


@pytest.mark.parametrize("where", ["top", "profile"])
def test_a_repository_never_allows_more_money_than_the_user(project: Path, own: Path, where: str) -> None:
    theirs = "[profiles.p.budget]" if where == "profile" else "[budget]"
    (project / "amelia.toml").write_text(f'{theirs}\nrun_cost = 50\nunit_cost = "none"\nrun_tokens = 10\n')
    own.write_text("[budget]\nrun_cost = 5\nrun_tokens = 100\n[profiles.p.budget]\nunit_cost = 2\n")
    loaded = load(project, named("p"))
    budget = loaded.settings.run.budget
    assert (budget.run.cost, budget.unit.cost, budget.run.tokens) == (5.0, 2.0, 10)
    assert str(loaded.held["budget.run_cost"].origin) == f"{own}:2"


def test_what_the_user_says_for_a_command_may_be_more(
    project: Path, own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own.write_text("[budget]\nrun_cost = 5\n")
    (project / "amelia.toml").write_text("[budget]\nrun_cost = 1\n")
    monkeypatch.setenv("AMELIA_BUDGET__RUN_COST", "50")
    assert load_settings(project).run.budget.run.cost == 50.0
    more = Options(values={"budget.run_cost": ("--max-cost", 70.0)})
    assert load_settings(project, more).run.budget.run.cost == 70.0


def test_a_profile_of_a_repository_cannot_send_a_key_elsewhere(project: Path, own: Path) -> None:
    own.write_text('[agents]\ndriver = "api"\nmodel = "openai:gpt"\nkey = "TEAM_KEY"\n')
    (project / "amelia.toml").write_text('[profiles.p.agents]\nmodel = "deepseek:chat"\n')
    assert load_settings(project, named("p")).run.agents[Role.DEVELOPER].key is None
    said = Options(values={"agents.model": ("--model", "deepseek:chat")})
    assert load_settings(project, said).run.agents[Role.DEVELOPER].key == "TEAM_KEY"


def test_an_option_with_another_driver_comes_without_what_was_meant_for_the_first(
    project: Path, own: Path
) -> None:
    own.write_text(
        '[agents]\ndriver = "claude"\nmodel = "opus"\nmax_turns = 3\n[agents.reviewer]\nmodel = "x"\n'
    )
    said = Options(values={"agents.driver": ("--driver", "codex")})
    assert set(load_settings(project, said).run.agents.values()) == {AgentSettings(driver="codex")}
    with pytest.raises(ConfigError, match=r"--driver: agents\.driver must be one of auto, claude"):
        load(project, Options(values={"agents.driver": ("--driver", "cloud")}))


def test_a_project_by_itself_is_the_same_whatever_the_environment(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AMELIA_TDD", "off")
    monkeypatch.setenv("AMELIA_PROFILE", "p")
    (project / "amelia.toml").write_text('[profiles.p]\ntdd = "warn"\n')
    assert load_project(project) == Settings()


@pytest.mark.parametrize(
    ("name", "text", "key", "value"),
    [
        ("AMELIA_TDD", "off", "tdd", TddRule.OFF),
        ("AMELIA_ENABLE_PHASED_EXECUTION", "false", "enable_phased_execution", False),
        ("AMELIA_DRIVER", "codex", "driver", "codex"),
        ("AMELIA_AGENTS__REVIEWER__MODEL", "123", "agents.reviewer.model", "123"),
        ("AMELIA_AGENTS__MODEL", "true", "agents.model", "true"),
        ("AMELIA_AGENTS__PASSES", '["A", "B"]', "agents.passes", ("A", "B")),
        ("AMELIA_VERIFY__COMMAND", "make test", "verify.command", ("make", "test")),
        ("AMELIA_VERIFY__COMMAND", '["sh", "-c", "a && b"]', "verify.command", ("sh", "-c", "a && b")),
        ("AMELIA_BUDGET__RUN_COST", "none", "budget.run_cost", None),
        ("AMELIA_BUDGET__RUN_TOKENS", "5000", "budget.run_tokens", 5000),
        ("AMELIA_MODES__PHASED__ATTEMPTS", "4", "modes.phased.attempts", 4),
        ("AMELIA_SCRIPT", "moves.toml", "script", str(Path("moves.toml").absolute())),
    ],
)
def test_a_variable_says_what_a_file_would_say(name: str, text: str, key: str, value: object) -> None:
    entries = said_by({name: text, "AMELIA_CLOCKS__WALL_MINUTES": ""}, place=Path())
    assert {key: entry.value for key, entry in entries.items()} == {key: value}
    assert entries[key].origin.kind is Kind.VARIABLE


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("AMELIA_PARALLEL_WORKERS", "many", "parallel_workers must be a whole number from 1 to 64"),
        ("AMELIA_PARALLEL_WORKERS", "1.5", "parallel_workers must be a whole number from 1 to 64"),
        ("AMELIA_ENABLE_PHASED_EXECUTION", "1", "enable_phased_execution must be true or false"),
        ("AMELIA_VERIFY__PROTECTED", "Makefile", "verify.protected must be a list of paths"),
        ("AMELIA_VERIFY__TIMEOUT_MINUTES", "9" * 20_000, "verify.timeout_minutes must be a number"),
        ("AMELIA_TDD", "2026-01-01", "tdd must be one of strict, warn, off"),
    ],
)
def test_a_wrong_value_of_a_variable_names_the_variable(name: str, text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(f"{name}: {message}")):
        said_by({name: text}, place=Path())


@pytest.mark.parametrize(
    ("name", "message", "hint"),
    [
        (
            "AMELIA_BUDGET",
            "budget must be a table, which no variable can hold, not",
            "AMELIA_BUDGET__UNIT_COST",
        ),
        ("AMELIA_MODES__TASKS", "modes.tasks must be a table", "AMELIA_MODES__TASKS__ATTEMPTS"),
        ("AMELIA_PROMPTS", "prompts must be a table", "write it into a file"),
    ],
)
def test_a_variable_of_a_whole_table_is_an_error(name: str, message: str, hint: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(f"{name}: {message}")) as caught:
        said_by({name: "["}, place=Path())
    assert hint in str(caught.value.hint)
    assert said_by({name: ""}, place=Path()) == {}


def test_a_list_that_is_cut_off_is_no_command() -> None:
    with pytest.raises(ConfigError, match=r"AMELIA_VERIFY__COMMAND: verify\.command must be a whole list"):
        said_by({"AMELIA_VERIFY__COMMAND": '["make", "test"'}, place=Path())


def test_a_key_in_a_list_that_is_cut_off_is_not_shown() -> None:
    with pytest.raises(ConfigError, match=r"AMELIA_AGENTS__KEY: agents\.key must be a whole list") as caught:
        said_by({"AMELIA_AGENTS__KEY": '["sk-ant-made-up'}, place=Path())
    assert "sk-ant" not in f"{caught.value}{caught.value.hint}"


def test_a_key_in_the_variable_of_all_agents_is_not_shown() -> None:
    with pytest.raises(ConfigError, match="AMELIA_AGENTS: agents must be a table") as caught:
        said_by({"AMELIA_AGENTS": '{key = "sk-ant-made-up"}'}, place=Path())
    assert "sk-ant" not in f"{caught.value}{caught.value.hint}"


def test_a_key_in_a_variable_is_not_shown() -> None:
    with pytest.raises(ConfigError, match=r"AMELIA_AGENTS__KEY: agents\.key must be the name") as caught:
        said_by({"AMELIA_AGENTS__KEY": "sk-ant-made-up"}, place=Path())
    assert "sk-ant" not in f"{caught.value}{caught.value.hint}"


def test_no_two_keys_share_a_variable() -> None:
    keys = [key for key, _ in PROFILE.leaves()]
    assert len({variable_of(key) for key in keys}) == len(keys)


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("AMELIA_PARALEL_WORKERS", "did you mean AMELIA_PARALLEL_WORKERS?"),
        ("AMELIA_PARALEL", "did you mean AMELIA_PARALLEL_WORKERS?"),
        ("AMELIA_BUDGET_RUN_COST", "did you mean AMELIA_BUDGET__RUN_COST?"),
        ("AMELIA_XYZ", "`amelia config show --all` lists the keys"),
    ],
)
def test_a_variable_that_is_no_setting_is_said_not_to_be_used(name: str, hint: str) -> None:
    assert list(slips({name: "3", "HOME": "/"})) == [f"{name} is not a setting, and is not used; {hint}"]


def test_variables_that_are_known_and_no_settings_are_left_alone() -> None:
    assert list(slips(dict.fromkeys((*PLACES, *OURS), "x"))) == []


def test_every_variable_that_the_code_knows_is_known() -> None:
    pattern = re.compile(r'"(AMELIA_[A-Z_]+)"')
    named = {name for path in SOURCE.rglob("*.py") for name in pattern.findall(path.read_text("utf-8"))}
    assert named - {"AMELIA_"} == {*PLACES, *OURS}


def test_every_settled_key_has_a_place_in_the_settings() -> None:
    said = {key: Entry(default_of(key)) for key in SETTLED}
    assert settings_of(merge([Layer(said)])) == Settings()


def test_texts_of_prompts_lie_beside_the_file_that_names_them(project: Path, own: Path) -> None:
    own.write_text('[prompts]\ntask = "mine.md"\n')
    (project / "amelia.toml").write_text('[profiles.p.prompts]\nreview = "texts/review.md"\n')
    assert load_settings(project, named("p")).run.prompts == {
        "task": str(own.parent / "mine.md"),
        "review": str(project / "texts/review.md"),
    }


@pytest.mark.parametrize(
    "path",
    ["../words.md", "/etc/hostname", "out.md", "far/words.md", ".git/config", ".GIT/config", "loop.md"],
)
@pytest.mark.parametrize("table", ["prompts", "profiles.p.prompts"])
def test_a_repository_tells_agents_its_own_files_only(project: Path, path: str, table: str) -> None:
    (project.parent / "words.md").write_text("secret")
    (project / "out.md").symlink_to(project.parent / "words.md")
    (project / "far").symlink_to(project.parent)
    (project / "loop.md").symlink_to(project / "loop.md")
    (project / "amelia.toml").write_text(f'[{table}]\nrules = "{path}"\n')
    with pytest.raises(
        ConfigError, match=rf"{table}\.rules must be a file inside the repository, not"
    ) as told:
        load_settings(project)
    assert "secret" not in str(told.value)


def test_a_repository_can_tell_agents_a_file_that_a_link_inside_leads_to(project: Path) -> None:
    inner = project / "tools"
    inner.mkdir()
    (project / "words.md").write_text("w")
    (inner / "link.md").symlink_to("../words.md")
    (inner / "amelia.toml").write_text('[prompts]\nrules = "link.md"\ntask = "../words.md"\n')
    words = str(project / "words.md")
    assert load_settings(inner).run.prompts == {"rules": words, "task": words}


def test_the_user_can_tell_agents_any_file(project: Path, own: Path) -> None:
    (project / "words.md").symlink_to(own.parent / "words.md")
    own.write_text(f'[prompts]\nrules = "/elsewhere/words.md"\ntask = "{project}/words.md"\n')
    assert load_settings(project).run.prompts == {
        "rules": "/elsewhere/words.md",
        "task": str(project / "words.md"),
    }


def test_a_line_is_told_where_it_can_be(project: Path) -> None:
    (project / "pyproject.toml").write_text(
        '[project]\nname = "x"\n[tool.amelia]\ntdd = "off"\n"verify".scope = "enforce"\n'
        '[ tool . amelia . clocks ]\nwall_minutes = 3\n[tool.amelia.agents]\nreviewer = { model = "m" }\n'
    )
    file = project / "pyproject.toml"
    assert origin(project, "tdd") == f"{file}:4"
    assert origin(project, "verify.scope") == f"{file}:5"
    assert origin(project, "clocks.wall_minutes") == f"{file}:7"
    assert origin(project, "agents.reviewer.model") == f"{file}:9"


def test_an_empty_git_directory_above_is_no_repository_whose_settings_end_there(tmp_path: Path) -> None:
    (tmp_path / "amelia.toml").write_text("parallel_workers = 3\n")
    below = tmp_path / "hidden" / "deep"
    below.mkdir(parents=True)
    (tmp_path / "hidden" / ".git").mkdir()
    assert load_project(below).run.parallel_workers == 3
    (tmp_path / "hidden" / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    assert load_project(below).run.parallel_workers == 1
