"use strict";
// The items behind a score: texts, the numbers of any systems, search, filters, order, one item in all systems.

const PAGE_SIZE = 50, SPLIT = "\x1f";

function unpack(text, type) {
  const raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return new type(bytes.buffer);
}

const itemCache = new Map();
function cached(key, make) {
  if (!itemCache.has(key)) itemCache.set(key, make().catch((error) => { itemCache.delete(key); throw error; }));
  return itemCache.get(key);
}

const loadTexts = (name) => cached(`texts/${name}`, async () => {
  const data = await tse.load(`texts/${name}`);
  const labels = Object.fromEntries(Object.entries(data.labels).map(([key, { names, width, codes }]) => [key, { names, codes: unpack(codes, width === 2 ? Uint16Array : Uint32Array) }]));
  const numbers = Object.fromEntries(Object.entries(data.numbers).map(([key, text]) => [key, unpack(text, Float32Array)]));
  return { name, texts: data.texts, labels, numbers };
});

const loadNumbers = (view, system) => cached(`items/${view.items.name}/${system}`, async () => {
  const file = view.systems.find((each) => each.name === system)?.file;
  if (!file) throw new Error(`${system ? `This table has no scores of ${system}` : "No model is named"}. Press a score to see its items.`);
  const data = await tse.load(`items/${view.items.name}/${file}`);
  if (data.problem) throw new Error(data.problem);
  return { system, texts: data.texts, values: Object.fromEntries(Object.entries(data.values).map(([key, text]) => [key, unpack(text, Float32Array)])) };
});

// Bring a system's numbers into the order of other texts; items that it does not have are NaN.
async function aligned(numbers, texts) {
  if (numbers.texts === texts.name) return numbers;
  const own = await loadTexts(numbers.texts);
  const key = (from, i) => [from.texts[i], ...Object.keys(texts.labels).map((name) => from.labels[name] ? from.labels[name].names[from.labels[name].codes[i]] : "")].join(SPLIT);
  const place = new Map(own.texts.map((_, i) => [key(own, i), i]));
  const values = Object.fromEntries(Object.keys(numbers.values).map((name) => [name, new Float32Array(texts.texts.length).fill(NaN)]));
  texts.texts.forEach((_, i) => { const from = place.get(key(texts, i)); if (from !== undefined) for (const name in values) values[name][i] = numbers.values[name][from]; });
  return { ...numbers, values };
}

const FILTERS = {
  all: ["all", () => true],
  right: ["A right", (a) => a === 1],
  wrong: ["A wrong or tied", (a) => a < 1],
  tie: ["A: a tie", (a, b, margin) => margin === 0],
  "a-only": ["A right and B wrong", (a, b) => a === 1 && b < 1],
  "b-only": ["A wrong and B right", (a, b) => a < 1 && b === 1],
  both: ["both right", (a, b) => a === 1 && b === 1],
  neither: ["both wrong", (a, b) => a < 1 && b < 1],
};
const SCORE_FILTERS = {
  all: FILTERS.all,
  low: ["A below 0.5", (a) => a < 0.5],
  higher: ["A higher than B", (a, b) => a > b],
  lower: ["A lower than B", (a, b) => a < b],
};

async function itemsView(view, target) {
  const row = state.get("row");
  if (!row) { target.replaceChildren(); return; }
  if (!view.items?.rows[row]) { target.replaceChildren(problem(`This table has no items of “${row}”. Press a score to see its items.`)); return; }
  const title = h("div", { class: "tools" }, h("h2", { tabindex: "-1", id: "items-title" }, `Items behind “${row}”`),
    button("Close the items", () => { closeItems(target); }));
  redraw(target, title, h("p", {}, "Loading the items …"));
  try {
    const a = await loadNumbers(view, state.get("a"));
    const texts = await loadTexts(a.texts);
    const b = state.get("b") ? await aligned(await loadNumbers(view, state.get("b")), texts) : null;
    if (state.get("row") !== row) return;
    const data = { view, row, texts, a: await aligned(a, texts), b, isPairs: "logprob_good" in view.items.values };
    const change = (changes) => { const systems = "a" in changes || "b" in changes;
      state.set({ page: null, ...changes });
      if (systems) itemsView(view, target); else draw();
      target.querySelector(".tse-scroll")?.scrollTo(0, 0); };
    const draw = () => redraw(target, title, drawItems(data, change));
    draw();
  } catch (error) { target.replaceChildren(title, problem(error.message)); }
}

function closeItems(target) {
  const from = `cell:${state.get("row")}:${state.get("a")}`;
  state.set({ row: null, a: null, b: null, f: null, find: null, order: null, page: null }, true);
  target.replaceChildren();
  [...document.querySelectorAll(".cell")].find((cell) => cell.dataset.key === from)?.focus();
}

function margins(system) {
  const { logprob_good: good, logprob_bad: bad } = system.values;
  return good ? good.map((value, i) => value - bad[i]) : system.values.score;
}

function chosenItems(data) {
  const { view, row, texts, a, b, isPairs } = data;
  const wanted = Object.entries(view.items.rows[row]).map(([column, value]) => { const label = texts.labels[column];
    return label ? [label.codes, label.names.indexOf(value)] : [[], -2]; });
  const test = ((isPairs ? FILTERS : SCORE_FILTERS)[state.get("f", "all")] ?? FILTERS.all)[1];
  const words = state.get("find").toLowerCase();
  const marginA = margins(a), marginB = b && margins(b);
  let n = 0;
  const found = [], averaged = new Set(), over = texts.labels[view.items.averaged]?.codes;
  for (let i = 0; i < texts.texts.length; i++) {
    if (!wanted.every(([codes, code]) => codes[i] === code)) continue;
    n++;
    if (over) averaged.add(over[i]);
    if (test(a.values.score[i], b ? b.values.score[i] : NaN, marginA[i]) && (!words || whole(texts.texts[i]).toLowerCase().includes(words))) found.push(i);
  }
  const orders = { up: (i) => marginA[i], down: (i) => -marginA[i] };
  if (b) Object.assign(orders, { apart: (i) => -Math.abs(marginA[i] - marginB[i]), "a-over-b": (i) => marginB[i] - marginA[i], "b-over-a": (i) => marginA[i] - marginB[i] });
  if (texts.numbers.people) orders.people = (i) => texts.numbers.people[i];
  const by = orders[state.get("order")];
  if (by) found.sort((i, j) => Number.isNaN(by(i)) - Number.isNaN(by(j)) || by(i) - by(j));
  return { found, n, marginA, marginB, averaged: averaged.size };
}

// Both texts of an item, so that a search finds either.
function whole(text) { const [before, good, bad, after] = text.split(SPLIT); return bad ? `${before}${good}${after} ${before}${bad}${after}` : `${before}${good}${after}`; }
const sentencesOf = (text) => { const [before, good, bad, after] = text.split(SPLIT); return bad ? [before + good + after, before + bad + after] : [before + good + after]; };

function drawItems(data, change) {
  const { view, row, texts, a, b, isPairs } = data;
  const chosen = chosenItems(data), pages = Math.max(1, Math.ceil(chosen.found.length / PAGE_SIZE));
  const page = Math.min(Number(state.get("page", "1")) || 1, pages);
  const shown = chosen.found.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE);
  const systems = view.systems.filter((system) => !system.published).map((system) => system.name);
  const filters = Object.entries(isPairs ? FILTERS : SCORE_FILTERS).filter(([, [label]]) => b || !/B|both/.test(label)).map(([key, [label]]) => [key, label]);
  const orders = [["", "as listed"], ["up", isPairs ? "A: lowest margin first" : "A: lowest first"], ["down", isPairs ? "A: highest margin first" : "A: highest first"],
    ...(b ? [["apart", "A and B furthest apart first"], ["a-over-b", "A above B first"], ["b-over-a", "B above A first"]] : []),
    ...(texts.numbers.people ? [["people", "people: lowest first"]] : [])];
  return [
    h("div", { class: "tools" },
      select("A", systems, a.system, (value) => change({ a: value })),
      select("B", [["", "(choose one to compare)"], ...systems], b ? b.system : "", (value) => change({ b: value || null, f: null })),
      select("Show items", filters, state.get("f", "all"), (value) => change({ f: value })),
      select("Order", orders, state.get("order"), (value) => change({ order: value || null })),
      searchBox("Find a text", state.get("find"), (value) => change({ find: value || null })),
      button("Download items (CSV)", () => download(["items", view.tab, view.measure, view.limited_to, row], "csv", "text/csv", itemsCsv(data, chosen)))),
    h("p", { role: "status", "data-testid": "count" }, `${number.count(chosen.found.length)} of ${number.count(chosen.n)} ${view.items.unit}`),
    chosen.averaged > 1 ? h("p", { class: "tse-note" }, `The score is the mean over its ${chosen.averaged} ${view.items.averaged}s, each of which counts the same.`) : null,
    isPairs ? h("p", { class: "tse-note" }, `log P: the natural logarithm of a probability. Margin: ${view.items.values.logprob_good} − ${view.items.values.logprob_bad}.`) : null,
    h("div", { class: "tse-scroll", role: "region", tabindex: "0", "aria-label": "Table of items" }, itemTable(data, chosen, shown)),
    pages > 1 ? h("p", { class: "pager" }, button("Previous", () => change({ page: page - 1 }), { disabled: page === 1 }), ` ${page} of ${pages} `,
      button("Next", () => change({ page: page + 1 }), { disabled: page === pages })) : null,
  ];
}

function itemsCsv({ texts, a, b, view }, { found }) {
  const labels = Object.keys(texts.labels), extra = Object.keys(texts.numbers), names = Object.keys(view.items.values);
  const systems = [a, b].filter(Boolean);
  const value = (number) => Number.isNaN(number) ? null : Number(number.toPrecision(7));
  const arePairs = texts.texts.some((text) => sentencesOf(text).length > 1);
  return csv([[...arePairs ? ["good", "bad"] : ["text"], ...labels, ...extra.map((name) => view.items[name] ?? name), ...systems.flatMap((system) => names.map((name) => `${view.items.values[name]} ${system.system}`))],
    ...found.map((i) => { const [good, bad = ""] = sentencesOf(texts.texts[i]);
      return [...arePairs ? [good, bad] : [good], ...labels.map((name) => texts.labels[name].names[texts.labels[name].codes[i]]), ...extra.map((name) => value(texts.numbers[name][i])),
        ...systems.flatMap((system) => names.map((name) => system.values[name] ? value(system.values[name][i]) : null))]; })]);
}
