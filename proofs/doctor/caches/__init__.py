"""Decoding with a cache, and whole models: what was said before must be what is read later."""
