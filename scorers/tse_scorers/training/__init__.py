"""Evaluation during training: `live` scores such a model; `trainer` and `lightning` are callbacks."""
