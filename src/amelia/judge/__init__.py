"""Is the attempt good? Executed checks first, then another agent."""
