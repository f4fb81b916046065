"""Puts accepted work on the branch, one unit at a time."""
