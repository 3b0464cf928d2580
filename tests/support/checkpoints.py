"""A series of small checkpoints, and pairs to score with them."""

import json
import os
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import save_file
from transformers import AutoTokenizer, GPT2Config, GPT2LMHeadModel

from tse_scorers.io.bundle import bundle_path

NOUNS = ("author", "pilot", "guard", "senator", "farmer", "customer", "teacher", "surgeon")


def write_data(path: Path) -> list[str]:
    """Write minimal pairs, eight of each of two paradigms; return their sentences."""
    rows = []
    for uid, verbs in (("present", ("laughs", "laugh")), ("past", ("was here", "were here"))):
        for noun in NOUNS:
            good, bad = (f"The {noun} {verb}." for verb in verbs)
            rows.append({"UID": uid, "linguistics_term": "agreement", "field": "syntax"})
            rows[-1] |= {"sentence_good": good, "sentence_bad": bad}
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return [row[side] for row in rows for side in ("sentence_good", "sentence_bad")]


def write_checkpoints(folder: Path, number: int, sentences: Sequence[str]) -> None:
    """Write checkpoints `step1`, `step2`, …: one model under less and less noise, with links to one tokenizer."""
    bundled = AutoTokenizer.from_pretrained(bundle_path("models", "tiny-causal"))
    tokenizer = bundled.train_new_from_iterator(sentences, 1000, show_progress=False)
    config = GPT2Config(
        vocab_size=len(tokenizer), n_positions=64, n_embd=32, n_layer=1, n_head=2, bos_token_id=0, eos_token_id=0
    )  # fmt: skip
    torch.manual_seed(0)
    model = GPT2LMHeadModel(config)
    first = folder / "step1"
    model.save_pretrained(first)
    tokenizer.save_pretrained(first)
    shared = [path for path in first.iterdir() if path.suffix != ".safetensors"]
    weights = {name: value.clone() for name, value in model.state_dict().items() if name != "lm_head.weight"}
    for step in range(1, number + 1):
        to = folder / f"step{step}"
        to.mkdir(exist_ok=True)
        noisy = {name: value + torch.randn_like(value) / step for name, value in weights.items()}
        save_file(noisy, to / "model.safetensors", metadata={"format": "pt"})
        for path in shared if step > 1 else ():
            os.link(path, to / path.name)
