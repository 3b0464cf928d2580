"""The options of suites."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from . import completions
from .options import CONFIG, DATA, OUTPUT, flag

SUITE_OPTIONS: dict[str, Any] = {
    "dataset": Annotated[
        list[str] | None,
        typer.Option(
            help="agreement: marvin_linzen, clams_german, clams_french, clams_russian, clams_hebrew, newman2021, "
            "blimp, a file of your own or a Hub data set; blimp: a set of `tse data list`, several separated by "
            "commas, or a YAML file that describes one. Default: agreement: marvin_linzen, because Table 2 of Newman "
            "et al. (2021) has its constructions; blimp: BLiMP, because most published accuracies are on it "
            "(Warstadt et al. 2020).",
            rich_help_panel=DATA,
            autocompletion=completions.datasets,
        ),
    ],
    "config": Annotated[list[str] | None, CONFIG],
    "source": Annotated[
        list[Path] | None,
        typer.Option(
            help="blimp, german, regions: file or folder with the data, or with your own; for several sets, a folder "
            "with a folder for each; agreement: folder where newman2021 and blimp were built. "
            "Default: the data of the package or the Hub, because their versions are pinned.",
            rich_help_panel=DATA,
        ),
    ],
    "groups": Annotated[
        list[str] | None,
        typer.Option(
            "--groups",
            "-g",
            help="agreement: only this row of Table 2; blimp: only this paradigm, phenomenon, field or language:code; "
            "regions: only this suite; repeatable. Default: all, because published averages are over all groups.",
            rich_help_panel=DATA,
        ),
    ],
    "lemmas": Annotated[
        list[str] | None,
        typer.Option(
            help="agreement: released (the list of Newman et al. 2021), clean (without its 25 faulty pairs; for new "
            "work), german, french, russian, hebrew, a file with columns singular and plural (or the two values "
            "of the pairs' column value; a column group limits lemmas to a group), or common:A,B (the lemmas that"
            " all models of these output folders scored). Default: the list of the data set's language; for "
            "English released, because scores can then be compared with Newman et al. (2021); with --forms all clean, "
            "because faulty forms such as 'thes' would hold most of the probability.",
            rich_help_panel=DATA,
        ),
    ],
    "forms": Annotated[
        list[str] | None,
        typer.Option(
            help="agreement: single (lemmas whose two forms are single tokens, as in the paper) or all (all lemmas, as"
            " whole words). Default: single, because scores can then be compared "
            "with Newman et al. (2021).",
            rich_help_panel=DATA,
        ),
    ],
    "word_end": Annotated[
        bool | None,
        typer.Option(
            "--word-end/--no-word-end",
            help="agreement, causal models: multiply the probability of a form by the probability that the word ends "
            "there. Default: with --forms all, because a form can also begin a longer word (Oh & Schuler 2024; "
            "Pimentel & Meister 2024); not with single, because Newman et al. (2021) do not.",
            show_default=False,
            rich_help_panel=DATA,
        ),
    ],
    "lemma_sample": Annotated[
        int | None,
        typer.Option(
            help="agreement: score only this many lemmas of the list, the same at every run. Default: all, because a "
            "sample makes EW and MW less certain.",
            min=1,
            rich_help_panel=DATA,
        ),
    ],
    "keep_forms": Annotated[
        bool | None,
        typer.Option(
            "--keep-forms",
            help="agreement: write the log-probability of each form at each gap (Parquet). Default: they are "
            "not kept, because they take much space.",
            rich_help_panel=OUTPUT,
        ),
    ],
    "sampler": Annotated[
        bool | None,
        typer.Option(
            "--sampler",
            help="agreement, with --forms all or --word-end: score also what nucleus sampling can say, at the cut-offs "
            "sampler_top. Default: no, because every step then sorts the vocabulary, which takes longer.",
            rich_help_panel=DATA,
        ),
    ],
    "sentence_pll": Annotated[
        bool | None,
        typer.Option(
            "--sentence-pll",
            help="agreement, masked models with --forms all: score lemmas whose forms have different numbers of tokens "
            "by the pseudo-log-likelihood of the whole sentence (ew_different_lengths). Default: excluded, because "
            "probabilities given different numbers of masks cannot be compared.",
            rich_help_panel=DATA,
        ),
    ],
    "allow_unverified": Annotated[
        bool | None,
        typer.Option(
            "--allow-unverified",
            help="agreement: accept your own pairs although the lemma list has none of their verbs, so that their "
            "column 'number' cannot be verified. Default: they are refused, because a wrong number gives wrong scores.",
            rich_help_panel=DATA,
        ),
    ],
    "linking": Annotated[
        list[str] | None,
        typer.Option(
            help="blimp: how whole sentences are compared: sum, mean_token, mean_char, mean_byte, "
            "mean_continuation, slln[:alpha], slor, morcela[:beta,gamma]. Default: as the authors of the set do, "
            "because scores can then be compared with theirs; sum for BLiMP (Warstadt et al. 2020) and your own "
            "pairs.",
            rich_help_panel=DATA,
        ),
    ],
    "unigram": Annotated[
        list[Path] | None,
        typer.Option(
            help="blimp: unigrams for slor and morcela. Over tokens, as their authors have them: a text (.txt), "
            "whose tokens are counted with each model's tokenizer, or a table with the columns token and count. Over "
            "words: a table with the columns word and count, or a file of `tse train-ngram --order 1`. Default: none, "
            "because the other linking functions need no frequencies.",
            rich_help_panel=DATA,
        ),
    ],
    "criteria": Annotated[
        list[str] | None,
        typer.Option(
            "--criteria",
            help="regions: a formula that items should fulfil, such as '(2;%mismatch%) > (2;%match%)'; repeatable. "
            "Default: the suite's own, because they are its authors' predictions.",
            rich_help_panel=DATA,
        ),
    ],
    "context": Annotated[
        list[str] | None,
        typer.Option(
            "--context",
            help="blimp: judge pairs after sentences: matched, mismatched, ungrammatical, or a text file with one "
            "sentence per line; repeatable. Default: no context, because published accuracies are without one.",
            rich_help_panel=DATA,
        ),
    ],
    "context_lengths": Annotated[
        list[str] | None,
        typer.Option(
            help="With --context: numbers of context sentences, separated by commas. Default: 0,1,2,4,8, because "
            "longer contexts cost more and each doubling shows the trend.",
            rich_help_panel=DATA,
        ),
    ],
    "template": Annotated[
        list[str] | None,
        typer.Option(
            "--template",
            help="blimp: judge pairs inside this text as well; {sentence} is the place of the sentence. Repeatable. "
            "Default: none, because published accuracies are without one.",
            rich_help_panel=DATA,
        ),
    ],
    "suite_option": Annotated[
        list[str] | None,
        typer.Option(
            "--suite-option",
            help="NAME=VALUE: an option that only a suite of another package has, as text; repeatable. Default: none, "
            "because the suites of this package have no such options.",
            rich_help_panel=DATA,
        ),
    ],
    "limit": Annotated[
        int | None,
        typer.Option(
            help="At most this many pairs of each group (german: templates), for a trial. Default: all, "
            "because a part gives less certain scores, which are marked as partial.",
            min=1,
            rich_help_panel=DATA,
        ),
    ],
}
"""How each of the options of suites looks on the command line; None: not given. Texts and paths are lists, because with
several suites each has its own (SUITE=VALUE)."""


def of_other_packages(given: Sequence[str]) -> dict[str, list[str]]:
    """Read what `--suite-option` was given: NAME=VALUE becomes an option of `make_suite`.

    Raises:
        ValueError: a text has no name or no `=`, or names an option that has a name on the command line.

    >>> of_other_packages(["length=short"])
    {'length': ['short']}
    """
    found: dict[str, list[str]] = {}
    for text in given:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not name.isidentifier() or not equals:
            raise ValueError(f"Got --suite-option {text!r}; expected NAME=VALUE, such as length=short.")
        if name in SUITE_OPTIONS:
            raise ValueError(
                f"Got --suite-option {text!r}; this option has a name of its own. Write {flag(name)}."
            )
        found.setdefault(name, []).append(value)
    return found
