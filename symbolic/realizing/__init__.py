"""The parts of `realize`: from a bias to its generator, or to the reason why it has none."""
