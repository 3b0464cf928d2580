"""Minimal variation sets of German word order: AUC (Rochereau et al. 2020)."""
