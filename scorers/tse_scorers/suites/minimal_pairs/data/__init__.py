"""Minimal pairs as checked tables."""
