"""Linear attention with decay, in the three forms that give the same numbers."""
