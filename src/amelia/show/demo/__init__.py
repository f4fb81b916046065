"""A small repository, a plan and recorded moves of an agent, for `amelia demo`."""
