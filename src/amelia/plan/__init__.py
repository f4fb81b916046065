"""Text becomes a checked graph of tasks: read, check, compile."""
