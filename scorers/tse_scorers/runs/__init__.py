"""What the commands start: run, merge, compare, estimate, score sentences."""
