"""Settings of the test tools."""

import os

from hypothesis import settings

# No deadlines: how long an example takes says more about the machine than about the code.
settings.register_profile("explore", deadline=None, print_blob=True)
# In continuous integration the same examples every time; new ones are looked for by whoever develops.
settings.register_profile("repeat", deadline=None, derandomize=True)
settings.load_profile("repeat" if os.environ.get("CI") else "explore")
