"""What report, explorer and exports show of agreement, from results of runs."""
