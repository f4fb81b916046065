"""One file for each way people write plans down."""
