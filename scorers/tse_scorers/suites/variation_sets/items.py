"""What `tse compare` compares on variation sets: the AUC of each template, by kind of set."""

import pandas as pd

from ...io.bundle import metric_modules
from ...report.inputs import ScoreFile
from ..base import Items
from .measures import KIND_LABELS

_SENTENCE = ["template", "case_order", "positions", "acceptable", "sentence", "logprob"]


def compared_items(file: ScoreFile) -> Items:
    """Return the AUC of each template by itself, by kind of set; the item is the template with all its sentences.

    Sentences of one template share their words, so that its variation sets do not count as several items.
    """
    sentences = file.read(_SENTENCE)
    aucs = {
        (template, "\n".join(sorted(own["sentence"]))): {
            row["variation_set"]: row["auc"]
            for row in metric_modules("minimal_variation_auc").variation_sets.variation_rows(
                own["logprob"], own["template"], own["case_order"], own["positions"], incomplete="exclude"
            )
            if row["group"] == "all"
        }
        for template, own in sentences.groupby("template", sort=False)
        if own["acceptable"].any()
    }
    by_template = pd.DataFrame.from_dict(aucs, orient="index")
    return {label: by_template[kind] for kind, label in KIND_LABELS.items()}
