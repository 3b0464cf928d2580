"use strict";
// Models that answer now: the verbs at a gap, or the words of whole sentences. Only where tse explore serves the page.

const EXAMPLE = "The keys to the cabinet ___ on the table.";
let asked = 0;  // the number of the last question: answers to earlier ones are not shown

async function ask(path, question) {
  const answer = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(question) })
    .catch(() => { throw new Error("The server does not answer. Check that tse explore is still running."); });
  const content = await answer.json().catch(() => ({ problem: `The server answered ${answer.status}.` }));
  if (content.problem) throw new Error(content.problem);
  return content;
}

// The chosen models; before any is chosen, those of some systems, or the first two.
function liveModels(systems = []) {
  const { models, of } = tse.data.get("start").live, wanted = state.list("model").filter((name) => models.includes(name));
  const known = systems.map((system) => of[system]).filter((name) => models.includes(name));
  return wanted.length ? wanted : known.length ? known : models.slice(0, 2);
}

// A model is called as in the tables; its whole name, which may be a path, is told on pointing at it.
const nameOf = (model) => tse.data.get("start").live.names[model] ?? model;

function modelBoxes(chosen = new Set(liveModels())) {
  const { models } = tse.data.get("start").live, title = h("legend", {}), count = () => { title.textContent = `Models to ask: ${chosen.size} of ${models.length}`; };
  count();
  return h("fieldset", {}, title, searchable(models.map((name) => checkbox(nameOf(name), chosen.has(name), (on) => {
    if (on) chosen.add(name); else chosen.delete(name);
    state.set({ model: [...chosen] });
    count();
  }, `model:${name}`, name)), "find-live-model"));
}

function sentenceTab(target) {
  const { words } = tse.data.get("start").live, answers = h("div", { class: "answers", "aria-live": "polite" });
  const sentence = h("input", { type: "text", maxlength: 5000, value: state.get("sentence", EXAMPLE) });
  const number = select("The verb's subject is", ["singular", "plural"], state.get("number", "plural"), () => {});
  const verb = h("input", { type: "text", maxlength: 100, placeholder: "exists", value: state.get("verb") });
  const which = select("Show", words, state.get("words", words[0]), () => {});
  const send = async () => {
    state.set({ sentence: sentence.value, number: number.lastChild.value, verb: verb.value || null, words: which.lastChild.value });
    const mine = ++asked, note = h("p", { class: "asking" });
    answers.replaceChildren(note);
    try {
      const question = { sentence: sentence.value, number: number.lastChild.value, verb: verb.value, words: which.lastChild.value };
      for (const model of liveModels()) {  // one after the other: an answer is shown as soon as it is there
        note.textContent = `Asking ${nameOf(model)}; a model is loaded when it is first asked …`;
        const { html } = await ask("api/gap", { ...question, model });
        if (mine !== asked) return;
        const card = h("div", {});
        card.innerHTML = html;  // made by the server's templates, which escape everything
        note.before(card);
        scaleBars(answers);
      }
      note.remove();
    } catch (error) { if (mine === asked) answers.replaceChildren(problem(error.message)); }
  };
  const form = h("form", { class: "ask", onsubmit: (event) => { event.preventDefault(); send(); } }, modelBoxes(), picker(sentence, number.lastChild, send),
    labelled("Sentence with a gap (___), from its capital to its full stop", sentence, "wide"),
    h("div", { class: "tools" }, number, labelled("One verb to look up (may be empty)", verb), which,
      h("button", { type: "submit", class: "primary" }, "Compare")));
  redraw(target, form, answers);
  if (state.get("sentence") || !allModels().length) send();  // without results, the page opens with this example
}

// The bars of all cards have one scale, so that models can be compared.
function scaleBars(answers) {
  const bars = [...answers.querySelectorAll("[data-probability]")], most = Math.max(1e-30, ...bars.map((bar) => Number(bar.dataset.probability)));
  for (const bar of bars) bar.style.width = `${(100 * Number(bar.dataset.probability) / most).toFixed(2)}%`;
}

// Contexts of a run, or of the shipped templates, in an order of their scores.
function picker(sentence, number, send) {
  const { orders } = tse.data.get("start").live, inside = h("div", { class: "tools" });
  const pick = { row: "", order: orders[0] };
  const fill = () => offer().catch((error) => inside.replaceChildren(problem(error.message)));
  const offer = async () => {
    const { constructions, row, choices, n } = await ask("api/contexts", { ...pick, models: liveModels() });
    redraw(inside, select("Construction", constructions, row, (value) => { pick.row = value; fill(); }),
      select("Order", orders, pick.order, (value) => { pick.order = value; fill(); }),
      select(`Context (${choices.length} of ${n} are offered)`, [["", "(choose)"], ...choices.map(([text, value]) => [value, text])], "", (value) => {
        if (!value) return;
        const space = value.indexOf(" ");
        number.value = value.slice(0, space);
        sentence.value = value.slice(space + 1);
        send();
      }, "context"));
  };
  const details = h("details", { ontoggle: () => { if (details.open && !inside.childNodes.length) fill(); } },
    h("summary", {}, "Pick a sentence"), inside);
  return details;
}

// The words of an item's texts, with their log-probabilities in the chosen models. Where the verb's number is known,
// its place is a gap that the tab Sentences can ask about.
function wordsOf(text, verbNumber, systems) {
  const live = tse.data.get("start").live, sentences = sentencesOf(text);
  if (!live) return h("p", { class: "tse-note" }, "Word by word: open these results with tse explore, which can ask the models.");
  const [before, , bad, after] = text.split(SPLIT);
  const gap = verbNumber ? h("a", { href: `#${new URLSearchParams({ tab: "Sentences", sentence: bad ? `${before}___${after}` : sentences[0], number: verbNumber })}` }, "Ask models about this gap") : null;
  if (sentences[0].includes("___")) return h("p", {}, gap);
  const answers = h("div", {}), chosen = new Set(liveModels(systems));
  const show = async () => {
    answers.replaceChildren("Asking the models …");
    const found = [];
    for (const model of chosen)
      try { found.push({ model, words: (await ask("api/words", { model, sentences })).words }); } catch (error) { found.push({ model, words: [], error }); }
    const strongest = Math.max(1e-9, ...found.flatMap(({ words }) => words.flat()).map(([, logprob]) => Math.abs(logprob ?? 0)));
    answers.replaceChildren(h("p", { class: "tse-note" }, "The numbers are log-probabilities (natural logarithm). A longer bar is a less probable word."), ...found.map(({ model, words, error }) => error ? problem(error.message) : wordTable(model, words, strongest)));
  };
  return h("div", {}, modelBoxes(chosen), button("Show the words", show), " ", gap, answers);
}

function wordTable(model, sentences, strongest) {
  const start = sharedWords(...sentences), end = sharedWords(...sentences.map((words) => words.slice(start).reverse()));
  const look = (place, words, which) => place < start || place >= words.length - end || sentences.length < 2 ? "" : which ? "bad" : "good";
  return h("div", { class: "words" }, h("h3", { title: model }, nameOf(model)), sentences.map((words, which) => h("p", {}, words.map(([word, logprob], place) =>
    h("span", { class: `word ${look(place, words, which)}` }, word, h("small", {}, number.logprob(logprob)), h("i", { style: `width:${logprob === null ? 0 : 100 * Math.abs(logprob) / strongest}%` }))))));
}

// How many words two sentences begin with that are the same.
function sharedWords(one, other = []) {
  const place = one.findIndex(([word], i) => word !== other[i]?.[0]);
  return place < 0 ? one.length : place;
}
