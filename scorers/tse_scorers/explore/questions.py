"""What the page asks models: the verbs at a gap, the words of sentences; and the contexts that it offers."""

import json
import math
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache, partial
from pathlib import Path
from threading import Lock
from typing import Any

from ..io.bundle import DEFAULT_MODELS
from ..models.answers import word_logprobs
from ..models.base import WordScorer
from ..models.model_source import FILES
from ..models.revisions import matching
from ..report.inputs import Runs
from ..report.systems import model_names
from . import gap_answers, gap_contexts
from .runs import models_of, read_folders

LONGEST = 5000
"""Characters of a sentence whose words are scored."""
Question = Mapping[str, Any]
_HUB_NAME = re.compile(r"[\w-][\w.-]*(/[\w.-]+)?(@[\w./-]+)?")
"""A bundled model, or one on the Hub, also with a revision."""


class Questions:
    """Answers questions of the page, one at a time: a model's memory is used by one.

    Attributes:
        choices: what the page lets the user choose.
    """

    def __init__(self, models: Sequence[str], runs: Runs | None = None) -> None:
        """Take models and runs.

        Args:
            models: can be asked before those of the runs; a folder of checkpoints stands for all of them.
            runs: have models and contexts; by default there are none.
        """
        self._runs = read_folders([])[0] if runs is None else runs
        self._models = models_of(self._runs)
        self._lock = Lock()
        read_contexts = partial(gap_contexts.run_contexts, self._runs, self._models)
        self._contexts = lru_cache(maxsize=8)(read_contexts)
        self._folders = [model for model in models if Path(model).is_dir()]
        models = [name for model in models for name in _checkpoints(Path(model)) or [model]]
        names = dict.fromkeys([*models, *self._models.values(), *DEFAULT_MODELS])
        self._named_by_user = {*models, *DEFAULT_MODELS}
        self.choices: dict[str, Any] = {
            "models": list(names),
            "names": _shown_names(list(names), self._models),
            "words": list(gap_answers.WORDS),
            "orders": list(gap_contexts.ORDERS),
            "of": self._models,
        }

    @cached_property
    def _constructions(self) -> list[str]:
        """The rows of the list of contexts; without runs, the shipped templates are read for them."""
        return gap_contexts.constructions(self._runs)

    @cached_property
    def _signatures(self) -> Mapping[str, Mapping[str, Any]]:
        """How the runs scored the models; read when a model is first asked."""
        return gap_contexts.run_signatures(self._runs, self._models)

    def gap(self, question: Question) -> dict[str, Any]:
        """Return the card of one model about a sentence with a gap, as HTML."""
        slot = gap_contexts.parse(_text(question, "sentence"))
        options = _text(question, "number"), _text(question, "words"), _text(question, "verb")
        from .gap_cards import answer  # with what fills templates: most pages ask no model

        with self._lock:
            model = self._model(question)
            return {"html": answer(model, slot, *options, self._signatures, self.choices["names"][model])}

    def words(self, question: Question) -> dict[str, Any]:
        """Return the words of sentences with their log-probabilities; None for one that cannot be scored."""
        sentences = _texts(question, "sentences")[:2]
        if any(len(sentence) > LONGEST for sentence in sentences):
            raise ValueError(f"A sentence has more than {LONGEST} characters. Choose a shorter one.")
        name = self._model(question)
        from .gap_cards import load

        with self._lock:
            scorer = load(name).scorer
            if not isinstance(scorer, WordScorer):
                raise ValueError(
                    f"{self.choices['names'][name]} does not score single words. Choose another model."
                )
            scored = word_logprobs(scorer, sentences)
        return {
            "words": [
                [(word, logprob if math.isfinite(logprob) else None) for word, logprob in sentence_words]
                for sentence_words in scored
            ]
        }

    def contexts(self, question: Question) -> dict[str, Any]:
        """Return the constructions, the contexts of one in an order, and how many it has; the first one for ""."""
        order, models, row = _text(question, "order"), _texts(question, "models"), _text(question, "row")
        if order not in gap_contexts.ORDERS:
            raise ValueError(
                f"There is no order {order!r}; expected one of {', '.join(gap_contexts.ORDERS)}."
            )
        if not models:
            raise ValueError("Choose at least one model: the order of contexts depends on the models.")
        row = row or self._constructions[0]
        one, other = (self._contexts(model) for model in (models[0], models[min(1, len(models) - 1)]))
        listed = one if len(one) else gap_contexts.shipped_contexts()
        choices = gap_contexts.choices(listed, other, row, order)
        n = int((listed["group"] == row).sum())
        return {"constructions": self._constructions, "row": row, "choices": choices, "n": n}

    def _model(self, question: Question) -> str:
        """Return the name of the model; raises ValueError unless it is one of the choices and may be asked."""
        name = _text(question, "model")
        if name not in self.choices["models"]:
            raise ValueError(f"Choose models from the list: {', '.join(self.choices['models'])}.")
        if name not in self._named_by_user:
            self._require_harmless(name)
        return name

    def _require_harmless(self, name: str) -> None:
        """Raise ValueError unless a model that only results name is on the Hub, bundled, or in a folder of the user."""
        path = Path(name)
        if os.path.lexists(path):
            may_be_asked = any(
                path.resolve().is_relative_to(Path(folder).resolve()) for folder in self._folders
            )
        else:
            may_be_asked = _HUB_NAME.fullmatch(name) is not None and not name.endswith(FILES)
            may_be_asked = may_be_asked and not os.path.lexists(name.partition("@")[0])
        if not may_be_asked:
            raise ValueError(
                f"Only the results name {name}; others may have written them, so files of this machine "
                f"that they name are not read. If you know this model, start `tse explore` with --model {name}."
            )


def _checkpoints(folder: Path) -> list[str]:
    """Return the checkpoints in a folder that is no model itself."""
    is_model = (folder / "config.json").is_file()
    return [] if is_model else [checkpoint.model for checkpoint in matching(folder, "*")]


def _part(question: Question, name: str) -> Any:
    """Return a part of a question; raises LookupError if there is none."""
    if name not in question:
        raise LookupError(f"The question has no {name!r}. Reload the page: the server may be a newer one.")
    return question[name]


def _text(question: Question, name: str) -> str:
    """Return a text of a question; raises LookupError if there is none, TypeError if it is something else."""
    text = _part(question, name)
    if not isinstance(text, str):
        raise TypeError(f"Got {json.dumps(text):.80} as {name!r} of the question; expected a text.")
    return text


def _texts(question: Question, name: str) -> list[str]:
    """Return a list of texts of a question; raises LookupError if there is none, TypeError if it is something else."""
    texts = _part(question, name)
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise TypeError(f"Got {json.dumps(texts):.80} as {name!r} of the question; expected a list of texts.")
    return texts


def _shown_names(models: Sequence[str], systems: Mapping[str, str]) -> dict[str, str]:
    """Return how each model is called: by the label that tables show, where one system alone has the model.

    >>> _shown_names(["/x/models/m.gguf", "org/n"], {"m.gguf": "/x/models/m.gguf"})
    {'/x/models/m.gguf': 'm.gguf', 'org/n': 'org/n'}
    """
    n_systems = Counter(systems.values())
    labels = {model: system for system, model in systems.items() if n_systems[model] == 1}
    short = model_names(model for model in models if model not in labels)
    shown = set(labels.values())
    return {
        model: labels.get(model) or (model if short[model] in shown else short[model]) for model in models
    }
