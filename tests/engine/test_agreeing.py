"""Of several processes, the main one alone looks at its disk and writes; what comes of it, all hear."""

import json

import pandas as pd
import pytest
from launching import launched

SCRIPT = """
import datetime, json, os, sys
from pathlib import Path
import torch
import tse_scorers.runs.run
from tiny import SENTENCES, tiny_model
import tse_scorers.models.causal
from tse_scorers import load_scorer
from tse_scorers.suites.registry import make_suite
from tse_scorers.models.causal import CausalScorer
from tse_scorers.runs.run import Run

# One that waits in vain fails soon.
torch.distributed.init_process_group("gloo", timeout=datetime.timedelta(seconds=60))
rank = torch.distributed.get_rank()
folder = Path(sys.argv[1])
out = folder / f"out-{rank}"  # machines that share no disk
scorer = load_scorer("tiny-masked", device="cpu")
found = {}

def run(what, limit, out=out, **options):
    try:
        rows = Run(make_suite("minimal_pairs", data=folder / "pairs.csv", limit=limit), out, **options).add(scorer)
        found[what] = [(row["method"], row["group"], row["score"], row["n"]) for row in rows]
    except Exception as error:
        found[what] = f"{type(error).__name__}: {error}"

def full(*_, **__):
    raise ValueError("No space left on device.")

run("scored", 4)
found["files"] = sorted(str(path.relative_to(out)).split("-")[0] for path in out.rglob("*"))
run("taken from before", 4)
run("refused", 3)
write, tse_scorers.runs.run.write_record = tse_scorers.runs.run.write_record, full
run("full disk", 3, overwrite=True)
found["journals kept"] = len(list(out.glob("runs/*/journal")))
tse_scorers.runs.run.write_record = write
run("gone on", 3, overwrite=True)
export, tse_scorers.runs.run.export_results = tse_scorers.runs.run.export_results, full
run("full disk for results", 2, overwrite=True)
tse_scorers.runs.run.export_results = export
for number in (0, 1):
    run(f"no folder for {number}", 4, Path("/proc/nowhere") if rank == number else folder / "there")
run("one disk", 4, folder / "shared")
run("one disk again", 4, folder / "shared")

def score(what, scorer):
    try:
        found[what] = scorer.sentence_logprobs(SENTENCES).tolist()
    except Exception as error:
        found[what] = f"{type(error).__name__}: {error}"

score("plain", CausalScorer(*tiny_model("causal", "gpt2"), share_prefixes=False))
unwritable = CausalScorer(*tiny_model("causal", "gpt2"), revision="1")
unwritable.journal_folder = Path("/proc/nowhere") if rank else folder / "journal"
score("journal", unwritable)
causal = tse_scorers.models.causal
probe, causal.packing_is_exact = causal.packing_is_exact, lambda *_: not rank
score("probes differ", CausalScorer(*tiny_model("causal", "gpt2")))
causal.packing_is_exact = lambda *given: full() if rank else probe(*given)
score("probe fails", CausalScorer(*tiny_model("causal", "gpt2")))
(folder / f"{rank}.json").write_text(json.dumps(found))
torch.distributed.barrier()
os._exit(0)  # gloo's threads sometimes abort a process at its end
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """What each of two processes found, the main one first, and their folder."""
    folder = tmp_path_factory.mktemp("processes")
    nouns = ("author", "pilot", "farmer", "skater")
    pairs = {
        "UID": "my_paradigm",
        "linguistics_term": "agreement",
        "field": "syntax",
        "sentence_good": [f"The {noun} laughs." for noun in nouns],
        "sentence_bad": [f"The {noun} laugh." for noun in nouns],
    }
    pd.DataFrame(pairs).to_csv(folder / "pairs.csv", index=False)
    (folder / "script.py").write_text(SCRIPT)
    launched(2, folder / "script.py", folder)
    return *(json.loads((folder / f"{rank}.json").read_text()) for rank in (0, 1)), folder


def test_what_one_disk_only_holds_is_scored_by_none(found):
    """The process without the scores on its disk went to score them and waited for the other one."""
    main, other, _ = found
    for process in (main, other):
        assert process["scored"] == main["scored"] and process["scored"][0][-1] == 4
        assert process["taken from before"] == main["scored"]
        assert process["one disk"] == process["one disk again"] == main["scored"]


def test_one_process_writes_and_none_leaves_its_journal(found):
    main, other, _ = found
    assert main["files"] == [
        "results.json",
        "runs",
        "runs/tiny",
        "runs/tiny",
        "runs/tiny",
        "runs/tiny",
    ]
    assert other["files"] == []


def test_scores_that_would_be_lost_stop_all(found):
    main, other, _ = found
    assert main["refused"].startswith("ValueError: ") and "--limit was 4 and is 3" in main["refused"]
    assert other["refused"] == f"ValueError: Process 0 of 2 failed, so all have stopped. {main['refused']}"


@pytest.mark.parametrize("case", ["full disk", "full disk for results"])
def test_what_cannot_be_written_stops_all(found, case):
    """The others waited for the one whose disk was full."""
    main, other, _ = found
    assert main[case] == "ValueError: No space left on device."
    assert other[case] == f"ValueError: Process 0 of 2 failed, so all have stopped. {main[case]}"


def test_what_was_scored_is_kept_where_it_could_not_be_written(found):
    """Each process then took all answers for its own, so that all came from several."""
    main, other, folder = found
    assert main["journals kept"] == other["journals kept"] == 1
    assert main["gone on"] == other["gone on"] == [[*row[:3], 3] for row in main["scored"]]
    for rank in (0, 1):
        assert not list((folder / f"out-{rank}").glob("runs/*/journal"))


@pytest.mark.parametrize("failing", [0, 1])
def test_a_folder_that_one_process_cannot_write_stops_all(found, failing):
    said = [process[f"no folder for {failing}"] for process in found[:2]]
    assert said[failing].startswith("ValueError: ") and "/proc/nowhere" in said[failing]
    assert (
        said[1 - failing]
        == f"ValueError: Process {failing} of 2 failed, so all have stopped. {said[failing]}"
    )


def test_a_journal_that_one_process_cannot_write_stops_all(found):
    """The others waited for its share until the backend gave up, half an hour later."""
    main, other, _ = found
    assert other["journal"].startswith(
        "ValueError: The checkpoint of this run could not be written to /proc/nowhere"
    )
    assert main["journal"] == f"ValueError: Process 1 of 2 failed, so all have stopped. {other['journal']}"


def test_processes_whose_probes_differ_do_as_the_main_one(found):
    """Near a limit one process shared prefixes and the other did not: `planned different work`."""
    main, other, _ = found
    assert main["probes differ"] == other["probes differ"] == pytest.approx(main["plain"], abs=1e-4)


def test_a_probe_that_fails_in_one_process_stops_all(found):
    main, other, _ = found
    assert other["probe fails"] == "ValueError: No space left on device."
    assert (
        main["probe fails"]
        == f"ValueError: Process 1 of 2 failed, so all have stopped. {other['probe fails']}"
    )
