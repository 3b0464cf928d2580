"""White space that separates words in all parts."""

SPACES = (" ", "\t", "\u00a0", "\u2003", "\u202f", "\u3000")
