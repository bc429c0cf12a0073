"""The kinds of encodings: the family, sums of planes, heads that differ, formulas assumed to be nothing."""
