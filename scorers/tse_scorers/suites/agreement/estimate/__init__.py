"""Averages, intervals and comparisons of stored answers; no model runs here."""
