"""A recorded run, played once more and compared with what it came to.

In the order in which they build on each other: `score` reads from a journal what agents answered and people
wished; `scripts` writes that as a script; `comparison` says what a run came to; `playing` plays the script as
a new run; `settings_text` and `saved` put all of it into files that can be played anywhere.
"""
