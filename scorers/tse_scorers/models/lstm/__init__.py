"""LSTM language models: a causal LM of `transformers`.

Importing this package makes `AutoConfig`, `AutoModelForCausalLM` and `AutoTokenizer` know them, so that
loading them never runs code from a model's repository.
"""

from transformers import AutoConfig, AutoModelForCausalLM

from .modeling import LstmConfig, LstmForCausalLM
from .tokenizer import save_tokenizer, word_tokenizer

AutoConfig.register(LstmConfig.model_type, LstmConfig, exist_ok=True)
AutoModelForCausalLM.register(LstmConfig, LstmForCausalLM, exist_ok=True)

__all__ = ["LstmConfig", "LstmForCausalLM", "save_tokenizer", "word_tokenizer"]
