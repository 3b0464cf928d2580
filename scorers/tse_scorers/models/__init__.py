"""What answers questions about texts: one file for each kind of model."""
