"""Keeps the settings of whoever runs the tests out of them."""

import os

os.environ["AMELIA_CONFIG"] = os.devnull
