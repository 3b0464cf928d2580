"""Subject-verb agreement: TSE, EW and MW (Newman et al. 2021)."""
