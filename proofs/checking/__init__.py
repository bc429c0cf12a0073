"""The checker's mathematics on integers and rationals; the standard library is all it needs."""
