"""Stands before a `sitecustomize` of the tree, and runs the one of the environment."""

import amelia_startup

amelia_startup.run_real("sitecustomize")
