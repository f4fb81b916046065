"""The only code that starts processes, and the vocabulary of git."""
