"""Benchmarks against peers, in one run: `python -m benchmarks`."""
