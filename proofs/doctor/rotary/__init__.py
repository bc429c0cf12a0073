"""Rotary kernels and their tables: called, identified, held to laws, judged by what is claimed."""
