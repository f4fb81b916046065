"""Fakes we ship, each proved by the same contract suite as the real thing."""
