"""What report and exports show of agreement, from results of runs."""
