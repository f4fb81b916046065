"""An agent whose turns are written down in a file, and the program that plays them."""
