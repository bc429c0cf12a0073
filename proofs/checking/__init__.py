"""The second opinion: certificates re-checked from their JSON with integers and rationals, standard library only."""
