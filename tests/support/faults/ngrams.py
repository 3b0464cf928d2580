"""Changes of the JSON file of an n-gram model (order 2): what is put into it, and what must be said."""

NGRAMS = {
    "another format": ({"format": "other"}, "its format is 'other'"),
    "another order": ({"order": 1}, "its counts do not fit its words"),
    "order 3": ({"order": 3}, "its order is 3, not 1 or 2"),
    "an unknown split": ({"split": "letters"}, "Unknown split 'letters'"),
    "lowercase a text": ({"lowercase": "no"}, 'lowercase is "no"; expected true or false'),
    "score_end a number": ({"score_end": 2}, "score_end is 2; expected true or false"),
    "words a number": ({"words": 3}, "words is 3; expected a list"),
    "numbers as words": ({"words": list(range(12))}, "words[0] is 0; expected text"),
    "no word for unknown ones": ({"words": ["a", "b"]}, "its words do not begin with <unk>"),
    "a word twice": ({"words": ["<unk>", "a", "a"]}, "or one is there twice"),
    "fewer words": ({"words": ["<unk>", "a"]}, "its counts do not fit its words"),
    "no counts": ({"counts": []}, "its counts do not fit its words"),
    "a negative count": ({"counts": [-9] * 10}, "its counts are not whole numbers from 1 up"),
    "fractions as counts": ({"counts": [0.5] * 10}, "its counts are not whole numbers from 1 up"),
    "counts that are true": ({"counts": [True] * 10}, "its counts are not whole numbers from 1 up"),
    "counts that are too large": ({"counts": [10**30] * 10}, "too large"),
    "one row": ({"row_lengths": [1]}, "its counts do not fit its words"),
    "negative rows": ({"row_lengths": [-1, 13]}, "its row_lengths are not whole numbers from 0 up"),
    "outcomes that are no words": ({"outcomes": [99] * 10}, "its outcomes are not words in ascending order"),
}
