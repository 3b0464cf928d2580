"""Word-level tokenizers for LSTM language models."""

import json
from collections.abc import Mapping
from pathlib import Path

from tokenizers import Tokenizer, models, processors
from transformers import PreTrainedTokenizerFast

from ..words import Split, normalizer, splitter


def word_tokenizer(
    vocabulary: Mapping[str, int],
    *,
    bos_token: str,
    eos_token: str | None,
    unk_token: str = "<unk>",
    split: Split = "punctuation",
    lowercase: bool = False,
) -> PreTrainedTokenizerFast:
    """Return a tokenizer whose tokens are words; every text begins with the start token.

    Args:
        vocabulary: id of each word, special tokens included.
        bos_token: opens a text. It is also the padding token; the mask marks padding.
        eos_token: closes a text, or None; it is not added to texts.
        unk_token: stands for every word outside the vocabulary.
        split: how to split words: `punctuation` separates punctuation, `whitespace` splits only at whitespace.
        lowercase: lower-case the words.

    Raises:
        ValueError: a special token is not in the vocabulary, or `split` is unknown.
    """
    for token in (bos_token, unk_token, eos_token):
        if token is not None and token not in vocabulary:
            raise ValueError(
                f"The vocabulary has no {token!r}; expected it among its {len(vocabulary)} words."
            )
    tokenizer = Tokenizer(models.WordLevel(dict(vocabulary), unk_token=unk_token))
    tokenizer.normalizer = normalizer(lowercase)
    tokenizer.pre_tokenizer = splitter(split)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{bos_token} $A",
        pair=f"{bos_token} $A {bos_token} $B",
        special_tokens=[(bos_token, vocabulary[bos_token])],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=bos_token,
        eos_token=eos_token,
        unk_token=unk_token,
        pad_token=bos_token,
        padding_side="right",
        clean_up_tokenization_spaces=False,
        model_input_names=["input_ids", "attention_mask"],
    )


def save_tokenizer(tokenizer: PreTrainedTokenizerFast, folder: Path) -> None:
    """Write a tokenizer under the class name that every version of `transformers` knows."""
    tokenizer.save_pretrained(folder)
    path = folder / "tokenizer_config.json"
    settings = json.loads(path.read_text(encoding="utf-8"))
    settings["tokenizer_class"] = "PreTrainedTokenizerFast"
    path.write_text(json.dumps(settings, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
