"""What people and machines see: the command line."""
