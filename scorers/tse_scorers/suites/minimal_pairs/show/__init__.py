"""What the report shows of minimal pairs, from results of runs."""
