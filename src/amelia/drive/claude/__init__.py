"""Claude Code: its command line, and the lines it prints."""
