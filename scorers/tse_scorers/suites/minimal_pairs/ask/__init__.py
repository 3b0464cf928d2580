"""What models are asked about a pair beyond the log-probability of a sentence."""
