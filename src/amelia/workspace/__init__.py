"""One clean checkout per attempt, in a private repository that leads no agent to the user's."""
