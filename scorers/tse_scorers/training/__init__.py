"""Evaluation during training: a function, a `Trainer` callback, a Lightning callback."""
