"""One clean checkout per attempt, in a private clone that no agent can reach the user's repository through."""
