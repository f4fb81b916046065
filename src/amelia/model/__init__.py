"""The vocabulary: frozen data, standard library only, nothing of ours imported."""
