"""What every test shares: the same examples on every run, and no time limit on a single example."""

from hypothesis import settings

settings.register_profile("exptx", derandomize=True, deadline=None, database=None, max_examples=50)
settings.load_profile("exptx")
