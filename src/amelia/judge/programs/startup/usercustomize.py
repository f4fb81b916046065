"""Stands before a `usercustomize` of the tree, and runs the one of the environment."""

import amelia_startup

amelia_startup.run_real("usercustomize")
