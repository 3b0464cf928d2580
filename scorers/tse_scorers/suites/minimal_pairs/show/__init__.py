"""What report and explorer show of minimal pairs, from results of runs."""
