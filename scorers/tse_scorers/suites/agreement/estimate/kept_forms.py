"""MW over any of the lemmas from the log-probabilities that `--keep-forms` wrote, where they are there.

They are float32, so MW is exact up to about seven digits. Without them, `outcomes.Outcomes.mw` estimates it.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from ....engine.arrays import Indices

Masses = NDArray[np.float32]


@dataclass(frozen=True)
class KeptForms:
    """The kept log-probabilities of one kind of gap.

    Attributes:
        context_id: (contexts,).
        singular: (contexts, lemmas) log-probabilities of the singulars, in the order of the table `lemmas`.
        plural: the same of the plurals.
    """

    context_id: Indices
    singular: Masses
    plural: Masses

    @classmethod
    def read(cls, forms: pa.Table) -> "KeptForms":
        """Read the table `forms` of gaps of one kind."""
        columns = (forms[name].combine_chunks() for name in ("logprob_singular", "logprob_plural"))
        matrices = [column.flatten().to_numpy().reshape(forms.num_rows, -1) for column in columns]
        return cls(forms["context_id"].to_numpy(), *matrices)

    def mw(self, items: pd.DataFrame, lemmas: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return MW of contexts over some of the lemmas, (contexts,); NaN if their forms have probability 0.

        Args:
            items: the contexts, a column `context_id` and `number` in their index.
            lemmas: (lemmas,) booleans that select lemmas.
        """
        rows = pd.Index(self.context_id).get_indexer(items["context_id"])
        masses = [
            np.exp(forms[:, lemmas].astype(np.float64)).sum(axis=1)[rows]
            for forms in (self.singular, self.plural)
        ]
        is_singular = items.index.get_level_values("number") == "singular"
        correct, total = np.where(is_singular, *masses), masses[0] + masses[1]
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(rows >= 0, correct / total, np.nan)
