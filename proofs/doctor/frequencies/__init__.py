"""Frequencies as a function of a config and of the length of the text."""
