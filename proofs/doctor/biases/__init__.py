"""Slopes, biases and scores: identified from calls alone and judged by what is claimed."""
