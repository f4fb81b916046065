"""Any agent that is a program: a command line with places for the prompt, the model and the session."""
