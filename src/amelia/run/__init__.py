"""The imperative shell: records events, carries out commands, feeds the answers back."""
