"""Modules that Python runs at its start, in a directory that comes first on its path."""
