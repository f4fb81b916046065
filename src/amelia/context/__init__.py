"""What an agent is told; pure text from facts."""
