"""The run as a machine without input or output: events become state, state becomes what to do next."""
