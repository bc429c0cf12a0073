"""Linear attention with decays, turns and gates; its states and how they combine."""
