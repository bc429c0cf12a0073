"""Inputs and exact outputs for programs in other languages, and the verdict on what they made of them."""
