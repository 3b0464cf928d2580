"""What a run of agreement is about: pairs, lemma lists and the two values that they contrast."""
