"""Ends with success if the module that is its argument can be imported, and not from the current tree."""

from __future__ import annotations

import importlib
import sys

import amelia_report

if __name__ == "__main__":
    amelia_report.ModulePath()
    importlib.import_module(sys.argv[1])
