"""What models are asked at the gaps, and the tables of their answers."""
