"""The kinds of encodings: the family, sums of planes, heads that differ, and formulas of which nothing is assumed."""
