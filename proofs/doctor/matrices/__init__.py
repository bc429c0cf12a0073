"""Matrix exponentials against balls."""
