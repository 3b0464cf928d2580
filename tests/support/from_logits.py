"""A reader that applies a function of logits at gaps."""

import numpy as np
import torch


class FromLogits:
    """Reads (answers, width) numbers: `function(logits, answers)`, one row of logits for each answer."""

    def __init__(self, function, width):
        self._function = function
        self.dtype = np.dtype(("f8", (width,)))

    def __call__(self, logits, at, answers):
        return self._function(logits[torch.as_tensor(at, device=logits.device)], answers)
