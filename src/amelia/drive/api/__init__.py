"""Any model by its provider and name: a program of ours with tools, around pydantic-ai."""
