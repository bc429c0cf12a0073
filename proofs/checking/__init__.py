"""The second opinion: certificates re-checked with integers and rationals, from the standard library."""
