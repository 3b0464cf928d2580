"""`tse explore`: its frames against the results, its page, names that are code, messages, and a browser."""

import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from functools import partial

import pytest
import synthetic_runs as made
from browser import chromium, opened, sideways, violations
from hostile import HOSTILE
from typer.testing import CliRunner

from tse_scorers import Results, run
from tse_scorers.cli.app import app as commands
from tse_scorers.io.runs import read_runs

explore = pytest.importorskip("tse_scorers.explore", reason="needs gradio (pip install '.[explore]')")

HARMFUL = [HOSTILE[key] for key in ("script", "image", "svg", "link", "markdown image", "rtl", "math")]
BLIMP, AGREEMENT = "BLiMP", "Agreement: Marvin & Linzen"


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A real run of two bundled models on agreement, and a made-up run of two models on pairs."""
    folder = tmp_path_factory.mktemp("explored")
    for model in ("tiny-causal", "tiny-masked"):
        run(model, suite="agreement", out=folder / "real", limit=3, report=False)
    pairs = made.blimp_scores(n=400).assign(sentence_good=[f"Pair {n} is good." for n in range(400)])
    pairs.loc[0, "logprob_bad"] = pairs.loc[0, "logprob_good"]
    pairs = pairs.assign(correct=(pairs["logprob_good"] > pairs["logprob_bad"]).astype("int8"), weight=0.5)
    swapped = {"logprob_good": "logprob_bad", "logprob_bad": "logprob_good"}
    worse = pairs.rename(columns=swapped)[list(pairs)]
    worse["correct"] = (worse["logprob_good"] > worse["logprob_bad"]).astype("int8")
    rows = [row | {"score": row["score"] / 2} for row in made.blimp_rows("org/worse")]
    tables = {"org/better.minimal_pairs": pairs, "org/worse.minimal_pairs": worse}
    made.write_run(folder / "made", [*rows, *made.blimp_rows("org/better")], tables)
    return [folder / "real", folder / "made"]


@pytest.fixture(scope="module")
def explored(folders):
    return explore.Explored(read_runs(folders))


@pytest.fixture(scope="module")
def address(folders):
    page = explore.app(read_runs(folders), ["tiny-causal"])
    yield explore.launch(page)
    page.close()


def test_the_leaderboard_has_the_headline_scores_of_all_folders_the_best_first(explored, folders):
    board = explored.leaderboard().set_index("model")
    assert sorted(board.index) == ["org/better", "org/worse", "tiny-causal", "tiny-masked"]
    assert list(board.index).index("org/better") < list(board.index).index("org/worse")
    for folder in folders:
        table = Results.load(folder).table()
        shown = board.loc[table.index, table.columns.map(": ".join)]
        assert shown.to_numpy().tolist() == table.to_numpy().tolist()
    assert any("Part of the data" in remark for remark in explored.remarks)


@pytest.mark.parametrize(
    ("data", "name", "measure", "level"),
    [
        (AGREEMENT, "EW@top-0.9", "ew@top-0.9", "group"),
        (BLIMP, "one prefix", "accuracy@one_prefix", "paradigm"),
    ],
)
def test_groups_are_those_of_the_results(explored, folders, data, name, measure, level):
    shown = explored.groups(data, name, level).set_index(["system", "level", "value"])["score"]
    rows = Results.load(folders[data == BLIMP]).scores(measure)
    expected = rows[rows["level"].isin([level, "all"])].set_index(["model", "level", "value"])["score"]
    assert shown.to_dict() == pytest.approx(expected.to_dict(), abs=1e-12, nan_ok=True)
    assert explore.picture(explored.groups(data, name, level)).startswith('<img alt="')


def test_items_are_filtered_by_both_models_and_keep_the_users_columns(explored):
    items = explored.items(BLIMP, "accuracy", "org/better", "org/worse")
    assert len(items) == 400 and items["margin A"].is_monotonic_increasing
    assert (items["margin A"] == -items["margin B"]).all() and (items["weight"] == 0.5).all()
    assert not {"logprob_good", "correct", "model"} & set(items)
    right = explore.found(items, "A right, B wrong")
    assert len(right) == (items["margin A"] > 0).sum() > 0 and (right["margin A"] > 0).all()
    assert len(explore.found(items, "both wrong")) == len(explore.found(items, "ties")) == 1
    paradigm = items["paradigm"].iloc[0]
    of_group = explore.found(items, "all", f"paradigm: {paradigm}", "PAIR")
    assert len(of_group) == (items["paradigm"] == paradigm).sum()
    assert explore.found(items, text="pair 17 ")["good"].tolist() == ["Pair 17 is good."]
    assert explore.found(items, text=".*").empty


def test_items_of_a_causal_and_a_masked_model_are_matched_by_their_texts(explored, folders):
    pairs = Results.load(folders[0]).items("agreement", "pairs")
    items = explored.items(AGREEMENT, "TSE", "tiny-causal", "tiny-masked").set_index(["group", "good", "bad"])
    for side, model in (("A", "tiny-causal"), ("B", "tiny-masked")):
        of_model = pairs[pairs["model"] == model].set_index(["group", "sentence_good", "sentence_bad"])
        margin = (of_model["logprob_correct"] - of_model["logprob_incorrect"]).sort_index()
        assert items[f"margin {side}"].sort_index().tolist() == margin.tolist()
    contexts = explored.items(AGREEMENT, "MW", "tiny-causal", "tiny-causal")
    scored = Results.load(folders[0]).items("agreement", "contexts").query("model == 'tiny-causal'")
    assert sorted(contexts["score A"].dropna()) == sorted(scored["mw_top_1"].dropna())
    with pytest.raises(ValueError, match=r"org/better does not contain items of covered_mass"):
        explored.items(AGREEMENT, "covered_mass", "org/better", "org/worse")


def test_surprisals_of_words_sum_to_that_of_the_sentence():
    answer = explore.surprisals("tiny-causal", ["The author is tall.", "The author are tall."])
    for _, of_sentence in answer.groupby("sentence"):
        whole, *words = of_sentence["surprisal"]
        assert sum(words) == pytest.approx(whole, abs=0.05)  # the sentence's end besides
    assert answer["text"].tolist()[:2] == ["The author is tall.", "The"]
    assert "none" in explore.surprisals("./none", ["A."])["text"][0]


def test_the_page_names_no_other_host_and_answers_to_names_of_this_machine_alone(address):
    """What gradio's own page says about itself for previews (`og:` and `twitter:`) loads nothing."""
    with urllib.request.urlopen(address) as answer:
        page = answer.read().decode()
    page = re.sub(r'<meta\s+(property|name)="(og|twitter):[^>]*>', "", page)
    hosts = set(re.findall(r"https?://([\w.-]+)", page)) - {"127.0.0.1", "www.w3.org"}
    assert not hosts
    for path in ("gradio_api/file=/etc/passwd", "gradio_api/file=pyproject.toml"):
        with pytest.raises(urllib.error.HTTPError, match=r"40[34]"):
            urllib.request.urlopen(address + path)
    other = urllib.request.Request(address, headers={"Host": "evil.example"})
    with pytest.raises(urllib.error.HTTPError, match="400"):
        urllib.request.urlopen(other)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing"], "missing does not contain results"),
        (["missing", "--port", "99999"], "65535"),
        ([], "Missing argument"),
    ],
)
def test_messages(tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(commands, ["explore", *arguments])
    assert done.exit_code and said in (done.output + str(done.exception))


def test_a_folder_without_results_is_refused_before_gradio_is_imported(tmp_path):
    code = "import sys\nfrom tse_scorers.cli.app import app\ntry:\n    app(['explore', 'none'])\n"
    code += "except BaseException:\n    print('gradio' in sys.modules, 'torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.split()[-2:] == ["False", "False"]


def test_without_gradio_the_way_out_is_named(folders, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    done = CliRunner().invoke(commands, ["explore", str(folders[0])])
    assert "pip install 'refined-tse[explore]'" in str(done.exception)


def test_the_command_serves_until_it_is_interrupted(folders):
    command = [sys.executable, "-m", "tse_scorers", "explore", str(folders[0]), "--model", "tiny-causal"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command += ["--port", str(port), "--no-browser"]
    heeds_interrupts = partial(
        signal.signal, signal.SIGINT, signal.SIG_DFL
    )  # what runs in the background does not
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, preexec_fn=heeds_interrupts
    ) as served:
        try:
            said = next(line for line in served.stdout if "Explore at" in line)
            assert f"http://127.0.0.1:{port}/" in said
            assert urllib.request.urlopen(f"http://127.0.0.1:{port}/").status == 200
            served.send_signal(signal.SIGINT)
            assert served.wait(60) == 0
        finally:
            served.kill()


def settled(page):
    """Wait until the page has shown what was asked for."""
    page.wait_for_timeout(700)
    page.wait_for_function("!document.querySelector('.generating, .eta-bar, .progress-text')")


def choose(page, label, option):
    page.get_by_label(label, exact=True).locator("visible=true").last.click()
    page.get_by_role("option", name=option, exact=True).click()
    settled(page)


@pytest.mark.browser
def test_each_tab_in_a_browser(address):
    with chromium() as browser, opened(browser, address) as page:
        for tab, shows in {"Scores": f"{AGREEMENT}: TSE", "Groups": "Simple", "Items": "Found"}.items():
            page.get_by_role("tab", name=tab, exact=True).click()
            page.get_by_text(shows, exact=True).locator("visible=true").first.wait_for()
            settled(page)
            assert sideways(page) <= 0
            assert not [found for found in violations(page) if found[0] == "critical"], tab
            if tab != "Scores":
                choose(page, "Data", BLIMP)
            if tab == "Groups":
                page.get_by_text("adjunct_island", exact=True).locator("visible=true").first.wait_for()
        choose(page, "A", "org/better")
        choose(page, "B", "org/worse")
        choose(page, "Show", "both wrong")
        assert page.get_by_label("Found").input_value().startswith("1 of 400 items")
        choose(page, "Show", "all")
        page.get_by_label("Search").fill("pair 17 ")
        page.get_by_text("Pair 17 is good.").locator("visible=true").first.wait_for()
        page.get_by_role("tab", name="A sentence of your own").click()
        page.get_by_label("Sentence", exact=True).fill("The author is tall.")
        page.get_by_role("button", name="Ask").click()
        page.get_by_text("The author is tall.").locator("visible=true").first.wait_for()


@pytest.mark.browser
def test_names_that_are_code_are_only_text(tmp_path):
    rows = [row for name in HARMFUL for row in made.blimp_rows(name)[:90]]
    scores = made.blimp_scores(n=9).assign(sentence_good=HOSTILE["image"], paradigm=HOSTILE["script"])
    tables = {f"{HARMFUL[0]}.minimal_pairs": scores}
    page = explore.app(read_runs([made.write_run(tmp_path / "run", rows, tables)]))
    try:
        with chromium() as browser, opened(browser, explore.launch(page)) as shown:
            dialogs = []
            shown.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
            for tab in ("Scores", "Groups", "Items"):
                shown.get_by_role("tab", name=tab, exact=True).click()
                settled(shown)
                if tab == "Items":
                    choose(shown, "B", HARMFUL[0])
                    shown.get_by_text(HOSTILE["image"]).locator("visible=true").first.wait_for()
                assert HARMFUL[0] in shown.content().replace("&lt;", "<").replace("&gt;", ">")
                assert "\u202e" not in shown.locator("body").inner_text()
            injected = "[...document.querySelectorAll('[onerror], [onload], img[src=x], a[href^=javascript]')].length"
            assert not dialogs and shown.evaluate(injected) == 0
    finally:
        page.close()
