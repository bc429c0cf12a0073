"""Rotary kernels over several coordinates: time, height and width, or the axes of an image."""
