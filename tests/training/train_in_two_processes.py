"""Run by `test_callback` in two processes: train with and without the callback and say what was found."""

import json
import os
import sys
from pathlib import Path

import torch
from small_training import logged, train

from tse_scorers import SyntaxEvaluationCallback


def main(folder: Path) -> None:
    without = train(folder / "without")
    trainer = train(folder / "with", SyntaxEvaluationCallback(budget=36))
    keys = [f"tse/{measure}{ending}" for measure in ("tse", "ew", "mw") for ending in ("", "_n", "_se")]
    own = {key: logged(trainer, f"eval_{key}")[-1][1] for key in keys}
    scores = [None] * torch.distributed.get_world_size()
    torch.distributed.all_gather_object(scores, own)
    if trainer.is_world_process_zero():
        torch.save(trainer.model.state_dict(), folder / "weights.pt")
        found = {
            "processes": len(scores),
            "scores": dict(enumerate(scores)),
            "losses": logged(trainer, "loss"),
            "losses_without": logged(without, "loss"),
        }
        (folder / "found.json").write_text(json.dumps(found))
    torch.distributed.barrier()
    # Not `destroy_process_group`: as long as the Trainers have DDP models, it leaves the group to them. Python frees
    # them while it holds its lock and waits for gloo's threads, one of which may wait for that lock.
    os._exit(0)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
