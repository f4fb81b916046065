"""Programs that run tests in our name and report through a pipe; this package is not imported by them.

They run under whichever Python the tree has: standard library only, nothing newer than 3.8. They are started
by their path, so that nothing in the tree can stand for the runner: it is imported before the tree is on the
path. The report is a line of JSON for each test and a last one with their number; the pipe is closed before
the interpreter runs its exit hooks, and what was written into it cannot be taken back.
"""
