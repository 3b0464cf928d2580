"""Evaluation during training.

In reading order:

    live_model.py     a model in training: taken out of its wrappers, and left as it was
    live.py           `LiveEvaluation` and `evaluate_live`: scores of such a model
    trainer.py        the callback for `transformers.Trainer`
    lightning.py      the callback for Lightning; needs `pip install 'refined-tse[lightning]'`
    inflection_ids.py the vocabulary ids that the metric refined_tse needs
"""
