"""The durable truth: an append-only journal per run, and what is read from it."""
