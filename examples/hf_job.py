# /// script
# requires-python = ">=3.10"
# dependencies = [
#     "refined-tse>=0.3,<0.4",
#     "torch>=2.6,<3",
#     "transformers>=4.56,<6",
#     "datasets>=3.6,<6",
#     "evaluate>=0.4.3,<0.5",
# ]
# ///
"""Score a data set with a model on a rented GPU, put the scored rows on the Hub, and print the metric.

uv run examples/hf_job.py --model gpt2 --data org/agreement_templates --config marvin_linzen --push org/my-scores
hf jobs uv run --flavor a10g-small --secrets HF_TOKEN examples/hf_job.py --model gpt2 …
"""

import argparse
import json

import evaluate
from datasets import load_dataset

from tse_scorers import load_scorer


def main(arguments=None):
    """Run the script; `arguments` are those of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", required=True, help="model on the Hub, a folder, or a bundled model")
    parser.add_argument(
        "--data", default="org/agreement_templates", help="data set with prefix, suffix, number"
    )
    parser.add_argument("--config", default="marvin_linzen", help="its configuration")
    parser.add_argument("--split", default="test", help="its split; test[:1000] for a trial")
    parser.add_argument("--lemmas", default="org/verb_lemmas", help="data set of verbs")
    parser.add_argument("--lemma-config", default="released", help="its configuration")
    parser.add_argument("--metric", default="org/refined_tse", help="the metric")
    parser.add_argument("--push", help="data set on the Hub that the scored rows go to; default: nowhere")
    parser.add_argument("--out", help="folder that the scored rows go to as a data set; default: nowhere")
    options = parser.parse_args(arguments)

    metric = evaluate.load(options.metric)  # what is wrong with a name shows before the model is loaded
    pairs = load_dataset(options.data, options.config, split=options.split)
    lemmas = load_dataset(options.lemmas, options.lemma_config, split="train")
    scored = load_scorer(options.model).map(pairs, lemmas=lemmas)  # on the GPU where there is one
    if options.out:
        scored.save_to_disk(options.out)
    if options.push:
        scored.push_to_hub(options.push, private=True)
    scores = metric.compute(predictions=scored, groups="group" if "group" in pairs.column_names else None)
    print(json.dumps({name: scores[name] for name in ("tse", "ew", "mw")}))


if __name__ == "__main__":
    main()
