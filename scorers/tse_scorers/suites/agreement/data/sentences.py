"""The sentences of pairs and contexts, as people read them."""

from ....models.text import capitalized

GAP = "___"


def sentence(prefix: str, form: str, suffix: str) -> str:
    """Return a sentence with a form at its gap, which has a capital where it opens the sentence.

    >>> sentence("The author", "is", " tall."), sentence("", "is", " the author tall?")
    ('The author is tall.', 'Is the author tall?')
    """
    return f"{prefix} {form}{suffix}" if prefix else f"{capitalized(form)}{suffix}"


def sentence_with_gap(prefix: str, suffix: str) -> str:
    """Return a context as users type it.

    >>> sentence_with_gap("The author", " tall.")
    'The author ___ tall.'
    """
    return f"{prefix} {GAP}{suffix}".strip()
