"""The benchmarks of `make bench`: minutes on two cores."""

from functools import partial
from typing import Any

from tse_scorers.io.bundle import load_data
from tse_scorers.suites.agreement.ask import scores as agreement

from . import contexts, data, dtypes, forms, gaps, machine, mapping, models, processes, scaling, sentences
from .options import Options


def blimp(options: Options, size: str) -> dict[str, Any]:
    """20 paradigms x 100 pairs, sentence log-probabilities."""
    texts = data.blimp_part(options.blimp, pairs=options.limit or 100)
    return sentences.compare(texts, options.model("gpt2", size), **_how(options))


def marvin_linzen(options: Options) -> dict[str, Any]:
    """Full sentences of three constructions: everything that is said of some of their subjects; once, for its size."""
    pairs = data.marvin_linzen()
    chosen = data.whole_subjects(pairs)
    if options.limit is not None:
        chosen = chosen.groupby("construction").head(options.limit)
    model = options.model("gpt2", "small")
    compared = sentences.compare(data.both(chosen), model, against=["lm-eval"], **_how(options, repeats=1))
    tokenizer = models.byte_level_tokenizer(data.both(pairs))
    return compared | {
        "chosen": f"the largest construction of each of three table rows ({', '.join(data.CONSTRUCTIONS)}), all "
        f"pairs about {data.SUBJECTS} of its subjects, drawn at random with a fixed seed",
        "rows": data.sharing(chosen, tokenizer),
        "all_constructions": data.sharing(pairs, tokenizer),
    }


def gaps_of_two_rows(options: Options) -> dict[str, Any]:
    """EW and MW with all cut-offs."""
    pairs = agreement.load("marvin_linzen", groups=["Simple", "VP coordination"], limit=options.limit)
    return gaps.compare(
        pairs, agreement.load_lemmas(), options.model("bert", "base"), torch_compile=options.torch_compile
    )


def all_forms(options: Options) -> dict[str, Any]:
    """All forms of all lemmas, with and without the probability that the word ends; `limit` contexts."""
    pairs = agreement.load("marvin_linzen")
    model = options.model("gpt2", "small")
    return forms.compare(pairs, agreement.load_lemmas(), model, contexts=options.limit or 6)


def context_sweep(options: Options) -> dict[str, Any]:
    """Contexts of six lengths before 200 pairs (or `limit`) of each of three constructions; counts only."""
    pairs = data.marvin_linzen()
    chosen = pairs[pairs["construction"].isin(data.CONSTRUCTIONS)].groupby("construction")
    # The longest context has 16 sentences from outside a tenth of the pairs.
    drawn = chosen.sample(max(options.limit or 200, 20), random_state=0)
    return contexts.compare(drawn, options.model("gpt2", "small"))


def german(options: Options, size: str) -> dict[str, Any]:
    """300 sentences, pseudo-log-likelihood."""
    texts = load_data("german_argument_structure", "ours")["sentence"][:7200:24][: options.limit]
    return sentences.compare(list(texts), options.model("bert", size), **_how(options))


def memory(options: Options) -> dict[str, Any]:
    """Peak memory with a vocabulary of 256,000."""
    return machine.in_own_process("benchmarks.memory", size=options.size or "tiny", device=options.device)


def two_processes(options: Options) -> dict[str, Any]:
    """Two processes of one thread each against one."""
    return processes.compare(size=options.size or "small", repeats=options.repeats)


def _how(options: Options, repeats: int | None = None) -> dict[str, Any]:
    return {"repeats": repeats or options.repeats, "torch_compile": options.torch_compile}


BENCHMARKS = {
    "blimp-tiny": partial(blimp, size="tiny"),
    "blimp-small": partial(blimp, size="small"),
    "marvin-linzen-small": marvin_linzen,
    "gaps-base": gaps_of_two_rows,
    "forms-small": all_forms,
    "contexts-small": context_sweep,
    "german-tiny": partial(german, size="tiny"),
    "german-base": partial(german, size="base"),
    "memory": memory,
    "processes": two_processes,
    "scaling": scaling.table,
    "dtypes": dtypes.table,
    "mapping": mapping.table,
}
