"""The Codex CLI: its command line, and the lines it prints."""
