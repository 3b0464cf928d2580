"""Minimal pairs of sentences: accuracy (Warstadt et al. 2020)."""
