"""The parts of `Generator(matrix)`: spectrum, real Jordan form, root counts, the metric of a bounded flow."""
