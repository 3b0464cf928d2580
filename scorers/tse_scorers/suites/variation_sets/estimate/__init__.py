"""AUCs, intervals and the agreement with people; no model runs here."""
