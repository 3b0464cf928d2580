"""Do the templates have similar mean ratings? The check of Rochereau, Sagot & Dupoux (2020), section 4.1.

The paper says that "the templates' average scores are not significantly different", and names no test. This is a
one-way analysis of variance of the sentences' scores over templates. It takes sentences as independent, although one
person rates several of them.
"""

from dataclasses import dataclass
from typing import Any

import pandas as pd
import scipy


@dataclass(frozen=True)
class TemplateMeans:
    """Mean scores of templates and the test of their equality.

    Attributes:
        templates: `template`, `mean` (in the unit of the scores) and `n`, the number of scored sentences.
        statistic: F, 0 or more; NaN if all scores are equal.
        p: probability of such an F or a larger one if all templates have the same mean; NaN as the statistic.
        share: share of the scores' variance that lies between templates (eta squared), 0 to 1.
    """

    templates: pd.DataFrame
    statistic: float
    p: float
    share: float


def compare_means(template: "pd.Series[Any]", scores: "pd.Series[float]") -> TemplateMeans:
    """Test whether templates' mean scores differ, from the template and the finite score of each sentence.

    Raises:
        ValueError: there are fewer than two templates, or no template with two sentences.
    """
    scored = pd.DataFrame({"template": template, "score": scores.astype(float)})
    groups = scored.groupby("template")["score"]
    if groups.ngroups < 2 or len(scored) == groups.ngroups:
        raise ValueError(
            f"{len(scored)} sentences of {groups.ngroups} templates are too few to compare templates; expected two "
            "templates or more, with several sentences each. Score more sentences."
        )
    templates = groups.agg(["mean", "size"]).set_axis(["mean", "n"], axis=1).reset_index()
    total = float(((scored["score"] - scored["score"].mean()) ** 2).sum())
    if total == 0:
        return TemplateMeans(templates, float("nan"), float("nan"), 0.0)
    between = float((templates["n"] * (templates["mean"] - scored["score"].mean()) ** 2).sum())
    result = scipy.stats.f_oneway(*(of_template.to_numpy() for _, of_template in groups))
    return TemplateMeans(templates, float(result.statistic), float(result.pvalue), between / total)
