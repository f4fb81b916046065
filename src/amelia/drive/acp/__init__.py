"""Any agent of the Agent Client Protocol: a program of ours that speaks it."""
