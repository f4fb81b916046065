"""Tasks that several tests look at."""

from amelia.model.plan import Task, TaskId

# The documented example, written out: six files over three layers, four criteria; 8.5 points, split by layers.
T1 = Task(
    id=TaskId("T1"),
    title="User registration",
    line=12,
    section="### Task T1",
    user_story="As a visitor I want to register so that I can log in.",
    files_to_create=(
        "src/models/user.py",
        "src/models/session.py",
        "src/services/auth.py",
        "src/services/mail.py",
        "src/views/register.py",
        "src/views/login.py",
    ),
    acceptance_criteria=(
        "Passwords are stored with encryption in the user table",
        "Authentication is async",
        "A migration adds the session record",
        "The login page shows various errors, with better caching",
    ),
)
