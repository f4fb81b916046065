"""Runs one agent in one workspace."""
