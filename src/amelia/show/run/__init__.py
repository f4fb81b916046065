"""What people and machines see of a run: pure views of its state and its journal, and the live display."""
