"use strict";
// The table of items: both texts, the numbers of A and B and their difference; below an item, all systems and its words.

function itemTable(data, chosen, shown) {
  const { texts, a, b, view } = data, shownOf = columnsOf(data);
  const systems = [["A", a, chosen.marginA], ...(b ? [["B", b, chosen.marginB]] : [])], people = texts.numbers.people;
  const apart = b ? `A − B: ${data.isPairs ? "margin" : Object.values(view.items.values)[0]}` : null;
  const last = (name) => h("th", { scope: "col", rowspan: 2 }, name);
  return h("table", { class: "tse-table tse-items" },
    h("thead", {},
      h("tr", {}, h("th", { scope: "col", rowspan: 2 }, "Text"),
        systems.map(([letter, system]) => h("th", { scope: "colgroup", colspan: shownOf.length, class: "system", title: system.system }, `${letter}: ${shortened(system.system)}`)),
        apart ? last(apart) : null, people ? last(view.items.people) : null),
      h("tr", {}, systems.flatMap(([letter]) => shownOf.map((name) => h("th", { scope: "col" }, h("span", { class: "tse-hidden" }, `${letter}: `), name))))),
    h("tbody", {}, shown.map((i) => h("tr", {},
      h("th", { scope: "row" }, itemText(texts.texts[i]), h("small", {}, labelsOf(data, i), itemMore(data, i))),
      systems.flatMap(([letter, system, margin]) => numbersOf(data, system, margin[i], i, `${letter}: `)),
      apart ? cellOf(apart, (data.isPairs ? number.signed : number.difference)(chosen.marginA[i] - chosen.marginB[i])) : null,
      people ? cellOf(view.items.people, number.score(people[i])) : null))));
}

const columnsOf = ({ view, isPairs }) => { const names = view.items.values;
  return isPairs ? [names.logprob_good, names.logprob_bad, "margin", "right?"] : Object.values(names); };
const cellOf = (name, text) => h("td", { "data-name": name }, text);

// What an item is, without what all items share or the row says; a number or a single letter says little without its name.
const labelsOf = ({ view, row, texts }, i) => Object.entries(texts.labels).filter(([name, { names }]) => names.length > 1 && name !== "cell" && !(name in view.items.rows[row]))
  .map(([name, { names, codes }]) => [name, names[codes[i]]]).filter(([, text]) => text)
  .map(([name, text]) => /^(\d+|[A-Z])$/.test(text) ? `${name} ${text}` : text).join(" · ");

function itemText(text) {
  const [before, good, bad, after] = text.split(SPLIT);
  return h("span", { class: "item" }, before, good ? h("b", { class: "good" }, h("span", { class: "tse-hidden" }, "good: "), good) : null,
    bad ? [" ⁄ ", h("b", { class: "bad" }, h("span", { class: "tse-hidden" }, "bad: "), `*${bad}`)] : null, after);
}

// The cells of one system; `letter` tells the two systems apart where a narrow window has no heading.
function numbersOf({ view, isPairs }, { values }, margin, i, letter = "") {
  const names = view.items.values;
  if (!isPairs) return Object.entries(names).map(([key, name]) => cellOf(letter + name, values[key] ? number.score(values[key][i]) : MISSING));
  return [cellOf(letter + names.logprob_good, number.logprob(values.logprob_good[i])), cellOf(letter + names.logprob_bad, number.logprob(values.logprob_bad[i])),
    cellOf(`${letter}margin`, number.signed(margin)), verdict(values.score[i], `${letter}right?`)];
}

function verdict(score, name) {
  if (Number.isNaN(score)) return cellOf(name, MISSING);
  const [sign, said, look] = score === 1 ? ["✓", "right", "tse-correct"] : score === 0.5 ? ["½", "a tie", "tse-other"] : ["✗", "wrong", "tse-incorrect"];
  return h("td", { class: look, "data-name": name }, h("span", { role: "img", "aria-label": said }, sign));
}

// What can be asked about one item, in a row below it: all systems, the words, the model itself.
function itemMore(data, i) {
  const press = button("All models, word by word", () => {
    const row = press.closest("tr"), open = press.getAttribute("aria-expanded") === "true";
    press.setAttribute("aria-expanded", String(!open));
    if (open) { row.nextSibling.remove(); return; }
    const inside = h("td", { colspan: row.children.length });
    row.after(h("tr", { class: "more" }, inside));
    fillMore(data, i, inside);
  }, { class: "link", "aria-expanded": "false", "data-key": `more:${i}` });
  return press;
}

async function fillMore(data, i, target) {
  const { view, texts, a, b } = data, columns = columnsOf(data);
  target.replaceChildren("Loading …");
  const all = view.systems.filter((system) => !system.published).map((system) => system.name);
  const loaded = await Promise.all(all.map((name) => loadNumbers(view, name).then((found) => aligned(found, texts)).catch(() => null)));
  const table = h("table", { class: "tse-plain tse-models" }, h("thead", {}, h("tr", {}, ["Model", ...columns].map((name) => h("th", { scope: "col" }, name)))),
    h("tbody", {}, loaded.map((system, place) => h("tr", {}, h("th", { scope: "row" }, breakable(all[place])),
      system ? numbersOf(data, system, margins(system)[i], i) : h("td", { colspan: columns.length }, "no scores of items")))));
  target.replaceChildren(h("div", { class: "inside" }, table, wordsOf(texts.texts[i], texts.labels.number?.names[texts.labels.number.codes[i]], [a, b].filter(Boolean).map((system) => system.system))));
}
