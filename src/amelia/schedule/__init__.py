"""The run as a machine without input or output: what happened becomes state, state becomes what to do next."""
