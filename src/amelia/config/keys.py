"""Every key of the settings, one line each: what it may hold, and what it decides.

Everything else that knows keys is made from these tables: readers of files and variables, `amelia config`,
the JSON schema, the file that `amelia init` writes. `docs/reference/settings.md` describes the same keys; a
test compares the two.
"""

from amelia.config.tables import Named, Table, for_projects
from amelia.config.values import (
    bound,
    command,
    file_beside,
    flag,
    folder_inside,
    minutes,
    number,
    one_of,
    path_inside,
    paths_inside,
    places,
    switch,
    text,
    text_file,
    variable,
    variables,
    web_address,
    whole,
)
from amelia.model.agents import AUTO, DRIVERS, NAMED, Role
from amelia.model.delivery import Finish
from amelia.model.plan import Mode
from amelia.model.policy import OnFailure, RetrySession, SessionScope
from amelia.model.settings import TddRule
from amelia.model.walls import Network, WallMode

_DAY = 1440
_COST = bound(number(0.001, 100_000))
_TOKENS = bound(whole(1, 1_000_000_000_000))

AGENT = Table(
    {
        "driver": one_of((AUTO, *DRIVERS, *NAMED)).about(
            "which kind of agent, or an agent by its name; auto is the first that is ready"
        ),
        "model": text.about("its model; provider:model for the api driver", example="opus"),
        "command": command.about("its program, and arguments that always come first").users(),
        "resume_command": command.about("by which the command driver goes on with a session").users(),
        "base_url": web_address.about("the server that answers instead of the provider's own").users(),
        "key": variable.about("the environment variable that holds the key").users(),
        "passes": variables.about("more environment variables that the agent may see").users(),
        "script": file_beside.about("what the script driver plays", example="agents.toml"),
        "trusts_repository": flag.about("whether what the repository brings for agents counts").users(),
        "max_turns": whole(1, 10_000).about("after how many steps a turn is stopped", example=100),
    }
)
"""What can be said of an agent."""
_AGENTS = Table(
    {**AGENT.readers, **dict.fromkeys(Role, AGENT)},
    "which agent does the work in every role; [agents.developer] and so on say it for one",
)
_BUDGET = Table(
    {
        "unit_cost": _COST.about("US dollars for a unit, with all its attempts and reviews"),
        "unit_tokens": _TOKENS.about("tokens of a unit whose cost nobody knows"),
        "run_cost": _COST.about("US dollars for a run"),
        "run_tokens": _TOKENS.about("tokens of a run whose cost nobody knows"),
    },
    'what may be used; "none" takes a bound away',
)
_LIMITS = Table(
    {
        "max_files_to_create": whole(1, 1000).about("how many new files a task should have"),
        "max_files_to_modify": whole(1, 1000).about("how many files a task should change"),
        "max_acceptance_criteria": whole(1, 1000).about("another name of max_criteria_per_task"),
        "max_criteria_per_task": whole(1, 1000).about("how many criteria a task should have"),
        "max_input_tokens": whole(100, 10_000_000).about("how long the text of a task should be"),
        "max_time_minutes": number(0.1, 100_000).about("how long a task should take"),
        "complexity_threshold": number(0, 13).about("the score above which a task is split"),
        "auto_split": flag.about("whether the mode lifecycle splits tasks"),
    },
    "how large a task should be at most",
)
_VERIFY = Table(
    {
        "command": command.about(
            "runs the tests; without it, the files of the repository tell how",
            example=("python", "-m", "pytest", "-q"),
        ),
        "junit": path_inside.about("a report in JUnit's format that command writes", example="report.xml"),
        "setup": command.about(
            "prepares the environment that the tests run in", example=("uv", "sync", "--frozen")
        ),
        "timeout_minutes": minutes(0.01, _DAY).about("for one run of the tests"),
        "scope": one_of(("report", "enforce")).about("what becomes of files that no task declares"),
        "protected": paths_inside.about("paths that no unit may change"),
        "tests": one_of(("plan", "frozen")).about(
            "who may change tests that pass: the units that the plan lets, with a review, or none"
        ),
    },
    "how work is proved",
)
_CLOCKS = Table(
    {
        "first_event_minutes": minutes(0.001, _DAY).about("until an agent is heard of for the first time"),
        "silence_minutes": minutes(0.001, _DAY).about("between two signs of life"),
        "wall_minutes": minutes(0.001, _DAY).about("over all"),
    },
    "the bounds of one turn of an agent",
)
_WALL = Table(
    {
        "mode": one_of(WallMode)
        .about("whether programs of agents and tests can write only what they need to")
        .users(),
        "writes": places.about("more paths that they may write", example=("~/.cache/tool",)).users(),
        "hides": places.about("more paths that they may not read", example=("~/secrets",)).users(),
        "network": one_of(Network).about("what tests and reviewers reach of the network").users(),
    },
    "what programs that Amelia starts for agents, setups, tests and hooks can reach",
)
POLICY = Table(
    {
        "attempts": whole(1, 100).about("how often a unit is tried before it waits for a person"),
        "retry_session": one_of(RetrySession).about("which session the next attempt is made in"),
        "keeps_workspace": flag.about("whether the next attempt finds the files as they were left"),
        "on_failure": one_of(OnFailure).about("whether anything new starts after a unit failed"),
        "max_iterations": whole(1, 100).about("how many sessions an attempt has while the checks fail"),
        "max_questions": whole(0, 100).about("how often a unit may ask a person"),
        "session_scope": one_of(SessionScope).about("what a session carries out: a unit, or a task of it"),
    }
)
"""What can be said of a mode."""
_PROMPTS = Named(
    text_file.about("a file with a text", example="prompts/task.md"),
    "texts of your own that agents are told, by the name of the one each stands for",
    example="task",
)
IDLE = Named(
    switch.about("whether it is enabled"),
    "trackers of issues, by name; Amelia has none yet, and says so of those that are enabled",
)
"""What can be said and has no effect yet."""
SHARED = Table(
    {
        "integrations": IDLE,
        "task_size_limits": _LIMITS,
        "parallel_workers": whole(1, 64).about("how many units may be worked on at the same time"),
    }
)
"""What is read from a file that other tools have their keys in, too."""
PROFILE = Table(
    {
        "tdd": one_of(TddRule).about("what happens to an impl task that no test precedes"),
        "enable_phased_execution": flag.about("whether plans may run in phases"),
        "max_task_review_iterations": whole(1, 100).about(
            "how often a unit of the modes single and tasks is tried", example=5
        ),
        "finish": one_of(Finish).about("what becomes of the branch of a completed run").users(),
        "driver": AGENT.readers["driver"],
        "script": AGENT.readers["script"],
        "artifacts_dir": folder_inside.about("where the record of a run is kept in the repository"),
        "commit_record": flag.about("whether the last commit of a branch holds the record of its run"),
        **SHARED.readers,
        "agents": _AGENTS,
        "budget": _BUDGET,
        "verify": _VERIFY,
        "clocks": _CLOCKS,
        "wall": _WALL,
        "modes": Table(dict.fromkeys(Mode, POLICY), "how units of each mode are treated"),
        "prompts": _PROMPTS,
    }
)
"""What can be said at the top of a file, and in a profile."""
KEYS = Table(
    {
        "profile": text.about("which profile of this file counts", example="thorough"),
        **PROFILE.readers,
        "profiles": Named(PROFILE, "settings under a name, over those of the files"),
    }
)
"""What is read from the user's own file."""
PROJECT = for_projects(KEYS)
"""What is read from a project's file: the same keys, but not all of them are a repository's to decide."""
