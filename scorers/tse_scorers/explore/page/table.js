"use strict";
// A table with one column per system: choose, filter, sort, compare with one system, open the items of a score.
// The leaderboard is the same with a row per system, and columns (`systems` in its data) that are measures.

const SHADES = 12, MANY = 12, NARROWEST = 8;
let modelSearch = "";  // stays while models are chosen

function tableView(view, target, open) {
  const draw = () => {
    redraw(target, drawTable(view, (changes) => { state.set(changes); draw(); }, open));
    loadDifference(view, target).then((isNew) => { if (isNew) draw(); });
  };
  draw();
}

// Ask for the next difference from the reference that is not there yet, with its interval; tell whether one came.
async function loadDifference(view, target) {
  const to = referenceOf(view), next = nextDifference(view, to);
  if (!next || view.asking) return false;
  view.asking = true;
  const name = differenceName(view, next, to);
  const found = await tse.load(name).catch((error) => ({ problem: error.message }));
  view.asking = false;
  view.differences[name] = { problem: found.problem, of: new Map((found.rows ?? []).map(([data, group, ...numbers]) => [`${data}\n${group}`, numbers])) };
  return target.isConnected;
}
const nextDifference = (view, to) => !hasIntervals(view, to) ? undefined
  : chosenSystems(view).find((system) => system.file && system.file !== to.file && !(differenceName(view, system, to) in view.differences));
// Those of two systems from each other are in one file, which is of the first one by name.
const differenceName = (view, ...systems) => `difference/${view.compared}/${systems.map((system) => system.file).sort().join("/")}`;
const referenceOf = (view) => view.across ? undefined : view.systems.find((system) => system.name === state.get("ref"));
const hasIntervals = (view, to) => Boolean(view.compared && to?.file && tse.data.get("start").has_differences);

const whyWithout = (view, to) => ` Differences have no interval here${view.compared && to.file ? `: this page has more than ${tse.data.get("start").most_compared} models and no server` : ""}; tse compare tests them on shared items.`;

function chosenSystems(view) {
  if (view.across) return view.systems.map((system, column) => ({ ...system, column }));
  const isOurs = view.systems.some((system) => !system.published), own = new Set(chosen());
  const published = state.get("published", view.systems.length <= MANY || !isOurs ? "1" : "0") === "1";
  return view.systems.map((system, column) => ({ ...system, column }))
    .filter((system) => system.published ? published : own.has(system.of));
}

function drawTable(view, change, open) {
  const systems = chosenSystems(view);
  const reference = view.systems.indexOf(referenceOf(view));
  view.differences ??= {};
  const rows = sortedRows(view, reference);
  const shown = { systems, rows, reference, shade: state.get("shade", "1") === "1", intervals: state.get("ci", "bars"), widest: widest(view, systems, rows, reference) };
  const body = rows.filter((row) => !row.total), totals = rows.filter((row) => row.total);
  shown.doubts = sharedDoubts(view, body, systems, reference);
  const heads = systems.filter(({ heading }, i) => heading && heading !== systems[i - 1]?.heading)
    .map(({ heading }) => h("th", { scope: "colgroup", class: "system", colspan: systems.filter((each) => each.heading === heading).length }, heading));
  const table = h("table", { class: heads.length ? "tse-table two" : "tse-table" },
    h("caption", {}, caption(view, reference)),
    h("thead", {}, heads.length ? h("tr", {}, h("td", {}), heads) : null,
      h("tr", {}, heading(view.corner, "", change), systems.map((system) => heading(system.label ?? system.name, system.name, change, system, doubtMark(view, shown.doubts.ofColumn.get(system.column)))))),
    h("tbody", {}, (view.across ? rows : systems).length ? null : h("tr", {}, h("th", { scope: "row" }, "No model is chosen.")), body.map((row) => tableRow(view, row, shown, open))),
    totals.length ? h("tfoot", {}, totals.map((row) => tableRow(view, row, shown, open))) : null);
  table.addEventListener("keydown", arrows);
  const first = table.querySelector("tbody .cell, tfoot .cell");
  if (first) first.tabIndex = 0;
  const problems = reference < 0 ? [] : [...new Set(systems.map((system) => view.differences[differenceName(view, system, view.systems[reference])]?.problem).filter(Boolean))];
  const doubts = new Set(rows.flatMap((row) => systems.flatMap((system) => doubtsOf(view, row, system, reference))));
  const note = `Each score: hover or focus it for its interval and counts${view.ties && shares(view).some(Boolean) ? ` (ties ${view.ties})` : ""}.` +
    (view.items ? ` Press it to see its ${view.items.unit}.` : systems.some((system) => system.link) ? " Press it to see its items." : "") +
    (view.across && rows.some((row) => row.cells.some((cell) => cell?.[8])) ? " Bold: higher than all other scores by the intervals; equal ones are bold together." : "") +
    (reference < 0 ? "" : !hasIntervals(view, view.systems[reference]) ? whyWithout(view, view.systems[reference])
      : ` Differences with an interval (95 %) are over what both models scored, as in tse compare, which also adjusts for their number.${nextDifference(view, view.systems[reference]) ? " More intervals are being computed." : ""}`);
  return [tools(view, systems, reference, change, shown), warnings(view.warnings),
    h("div", { class: "tse-scroll", role: "region", tabindex: "0", "aria-label": view.caption }, table),
    h("p", { class: "tse-note" }, note, [...doubts].map((name) => h("span", { class: "meaning" }, h("b", {}, `⚠ ${name}: `), view.badges[name]))),
    problems.length ? h("details", { class: "tse-note", "data-key": "no-intervals" }, h("summary", {}, `Why ${problems.length === 1 ? "one model has" : `${problems.length} models have`} no intervals`), h("ul", {}, problems.map((text) => h("li", {}, text)))) : null];
}

const caption = (view, reference) => h("span", {}, reference < 0 ? view.caption
  : `${view.caption} Differences from ${view.systems[reference].name}.`);

function tools(view, systems, reference, change, shown) {
  const names = allModels(), own = chosen(), here = new Set(view.across ? names : view.systems.map((system) => system.of));
  const [filter, list] = searchable(names.map((name) => { const box = checkbox(name, own.includes(name), (on) => change({ m: switched(name, on) }), `m:${name}`);
    if (!here.has(name)) box.append(h("small", {}, " – not in this table"));
    return box; }), "find-model", modelSearch, (text) => { modelSearch = text; });
  return h("div", { class: "tools" },
    menu("models", `Models: ${own.length} of ${names.length}`, filter,
      h("div", { class: "pair" }, button("All models", () => change({ m: null })), button("No models", () => change({ m: [NONE] }))), list,
      view.systems.some((system) => system.published) ? checkbox("Published scores", systems.some((system) => system.published), (on) => change({ published: on ? "1" : "0" })) : null),
    searchBox(view.across ? "Find a model" : "Find a row", state.get("q"), (value) => change({ q: value || null })),
    view.across ? null : select("Difference from", [["", "(none: show scores)"], ...view.systems.map((system) => system.name)], state.get("ref"), (value) => change({ ref: value || null })),
    menu("display", "Display", select("Intervals", [["bars", "as bars"], ["text", "as numbers"], ["none", "hidden"]], shown.intervals, (value) => change({ ci: value === "bars" ? null : value })),
      checkbox("Shading", shown.shade, (on) => change({ shade: on ? null : "0" }))),
    button("Download CSV", () => download([view.tab, view.measure, view.limited_to, reference >= 0 ? "differences" : ""], "csv", "text/csv", tableCsv(view, shown))));
}

// What makes a cell unusable as it is shown: a score, or a difference with its interval.
function doubtsOf(view, row, system, reference) {
  const tested = testedDifference(view, row, system.column, reference), cell = row.cells[system.column];
  return tested ? (tested[4] === 0 ? [tested[1] === null ? "no interval" : "few units"] : []) : cell?.[7] ?? [];
}

// What limits all scores of a column (but those over everything) or of a row stands there once, not at each score.
function sharedDoubts(view, rows, systems, reference) {
  const inAll = (cells, known = () => []) => {
    const doubts = cells.filter(([row, system]) => row.cells[system.column]?.[0] != null).map(([row, system]) => doubtsOf(view, row, system, reference).filter((name) => !known(system).includes(name)));
    return doubts.length > 1 ? doubts[0].filter((name) => doubts.every((of) => of.includes(name))) : [];
  };
  const ours = systems.filter((system) => !system.published);
  const ofColumn = new Map(ours.map((system) => [system.column, inAll(rows.map((row) => [row, system]))]));
  const ofRow = new Map(rows.map((row) => [row.index, inAll(ours.map((system) => [row, system]), (system) => ofColumn.get(system.column))]));
  return { ofColumn, ofRow };
}

const doubtMark = (view, names) => names?.length ? h("span", { class: "doubt", title: names.map((name) => view.badges[name]).join(" "), role: "img", "aria-label": names.join(", ") }) : null;

function heading(text, name, change, system = null, mark = null) {
  const published = system?.published;
  const sorted = state.get("sort", "\0") === name ? state.get("dir", "desc") : "none";
  const short = shortened(text);
  const next = { none: ["desc", name], desc: ["asc", name], asc: [null, null] }[sorted];
  return h("th", { scope: "col", class: published ? "published" : null, "aria-sort": { none: "none", desc: "descending", asc: "ascending" }[sorted] },
    h("button", { type: "button", "data-key": `sort:${name}`, style: `min-width:${Math.min([...short].length + 2, NARROWEST)}ch`, title: text === short ? null : text, onclick: () => change({ sort: next[1], dir: next[0] }) }, breakable(short)), system?.partial ? h("span", { class: "badge", title: "Scored on a part of the data." }, "partial") : null, mark);
}

// Scores, or differences to the reference; totals stay where they are.
function sortedRows(view, reference) {
  const words = state.get("q").toLowerCase(), models = new Set(chosen());
  const rows = view.rows.map((row, index) => ({ ...row, index, cells: view.cells[index] }))
    .filter((row) => row.total || row.name.toLowerCase().includes(words))
    .filter((row) => !view.across || models.has(row.name));
  const by = state.get("sort", "\0"), sign = state.get("dir", "desc") === "desc" ? -1 : 1;
  const column = view.systems.findIndex((system) => system.name === by);
  const value = (row) => shownValue(view, row, column, reference);
  if (by === "") rows.sort((a, b) => -sign * a.name.localeCompare(b.name));  // the first press sorts from A to Z
  else if (column >= 0) rows.sort((a, b) => (value(a) === null) - (value(b) === null) || sign * (value(a) - value(b)));
  return rows;
}

// A score; or the difference to the reference, over what both scored where that is known.
function shownValue(view, row, column, reference) {
  const score = row.cells[column]?.[0] ?? null;
  if (reference < 0 || column === reference) return score;
  const tested = testedDifference(view, row, column, reference), other = row.cells[reference]?.[0] ?? null;
  return tested ? tested[0] : score === null || other === null ? null : score - other;
}

// The difference with its interval: [difference, low, high, n, reliable]; undefined before it is there.
function testedDifference(view, row, column, reference) {
  if (reference < 0 || column === reference || !row.place) return undefined;
  const system = view.systems[column], to = view.systems[reference];
  const found = view.differences[differenceName(view, system, to)]?.of.get(row.place.join("\n"));
  if (!found || system.file < to.file) return found;
  const [value, low, high, ...counts] = found, minus = (end) => end === null ? null : 0 - end;
  return [minus(value), minus(high), minus(low), ...counts];
}

// How far the intervals of differences reach, for the scale of their bars.
const widest = (view, systems, rows, reference) => Math.max(0.01, ...rows.flatMap((row) => systems.map((system) => testedDifference(view, row, system.column, reference)))
  .filter((each) => each && each[1] !== null).flatMap(([, low, high]) => [Math.abs(low), Math.abs(high)]));

function tableRow(view, row, shown, open) {
  return h("tr", { "data-total": row.total }, h("th", { scope: "row" }, h("span", { class: "name" }, breakable(row.name)), doubtMark(view, shown.doubts.ofRow.get(row.index))),
    shown.systems.map((system) => tableCell(view, row, system, shown, open)));
}

function tableCell(view, row, system, shown, open) {
  const cell = row.cells[system.column];
  const value = shownValue(view, row, system.column, shown.reference), tested = testedDifference(view, row, system.column, shown.reference);
  const isDifference = shown.reference >= 0 && system.column !== shown.reference;
  const text = cell && cell[0] === null ? "no score" : value === null ? MISSING
    : isDifference ? number.difference(value) : scored(view, system, value);
  const opens = view.items && cell && cell[1] !== null && view.items.rows[row.name];
  const link = view.across && cell && cell[0] !== null && system.link ? state.with(elsewhere({ ...system.link, a: row.name })) : null;
  const inner = h(link ? "a" : opens ? "button" : "span", { class: cell?.[8] ? "cell best" : "cell", tabindex: "-1", type: opens ? "button" : null, href: link,
    "data-key": `cell:${row.name}:${system.name}`, "data-tip": cell ? told(view, row, system, cell, tested, isDifference ? value : null) : null }, text);
  const parts = [inner];
  const scale = scaleOf(view, system);
  const [low, high] = (isDifference ? tested?.slice(1, 3) : cell?.slice(4, 6)) ?? [null, null];
  if (low !== null && high !== null) {
    const place = (end) => isDifference ? 50 + 50 * end / shown.widest : 100 * (end - scale[0]) / (scale[1] - scale[0]);
    if (shown.intervals === "bars") parts.push(h("i", { class: isDifference ? "track middle" : "track" }, h("i", { style: `left:${place(low)}%;right:${100 - place(high)}%` })));
    if (shown.intervals === "text") parts.push(h("small", {}, range(view, system, low, high, isDifference)));
  }
  const there = row.total ? [] : [...shown.doubts.ofColumn.get(system.column) ?? [], ...shown.doubts.ofRow.get(row.index) ?? []];
  parts.push(doubtMark(view, doubtsOf(view, row, system, shown.reference).filter((name) => !there.includes(name))));
  const shade = shown.shade && value !== null && !system.published && (isDifference || areShares(view, system)) ? shadeOf(value, isDifference) : null;
  return h("td", { class: [system.published ? "published" : "", shade ?? "", opens ? "opens" : ""].join(" ").trim() || null,
    onclick: opens ? () => open(row.name, system.name, isDifference && view.systems[shown.reference].file ? view.systems[shown.reference].name : null) : null }, parts);  // the whole cell, not the number alone
}

// A class of the style sheet: darker where the score is lower, or where the difference is larger.
function shadeOf(value, isDifference) {
  if (isDifference) { const step = Math.min(5, Math.round(Math.abs(value) / 0.06)); return step ? `${value > 0 ? "up" : "down"}${step}` : null; }
  const step = Math.min(6, Math.round((1 - value) * SHADES));
  return step > 0 ? `low${step}` : null;
}

// Where columns are measures, each has its own decimals.
const scored = (view, system, value) => number.score(value, system.digits ?? view.digits, areShares(view, system));
const range = (view, system, low, high, isDifference = false) => [low, high].map((end) => isDifference ? number.difference(end) : scored(view, system, end)).join(" to ");

// Whether each column has shares, 0 to 1, as means have and a correlation has not.
const inColumn = (view, column) => view.cells.flatMap((row) => view.across ? row[column] ? [row[column]] : [] : row.filter(Boolean));
const shares = (view) => view.shareColumns ??= view.systems.map((system, column) =>
  inColumn(view, column).every((cell) => cell[0] === null || (cell[0] >= 0 && cell[0] <= 1)));
const areShares = (view, system) => shares(view)[system.column];

// From where to where a column's bars of intervals reach.
function scaleOf(view, { column }) {
  if (shares(view)[column]) return [0, 1];
  const ends = (view.ends ??= [])[column] ??= inColumn(view, column).flatMap((cell) => [cell[0], cell[4], cell[5]]).filter((end) => end !== null);
  return [Math.min(...ends), Math.max(...ends)];
}

function told(view, row, system, cell, tested, difference) {
  const [score, n, excluded, ties, low, high] = cell;
  const lines = [`${system.name} · ${row.name}: ${score === null ? "no score" : scored(view, system, score)}`];
  if (low !== null && high !== null) lines.push(`95 % interval: ${range(view, system, low, high)}`);
  for (const name of cell[7]) lines.push(`⚠ ${name}: ${view.badges[name]}`);
  if (tested) lines.push(`Difference from ${state.get("ref")}: ${number.difference(tested[0])}${tested[1] === null ? "" : `, 95 % interval: ${range(view, system, tested[1], tested[2], true)}`}, over ${number.count(tested[3])} that both scored`);
  else if (difference !== null) lines.push(`Difference from ${state.get("ref")}: ${number.difference(difference)}, without an interval`);
  lines.push(n === null ? "Published by others." : `${number.count(n)} ${view.unit}, ${number.count(excluded)} excluded${areShares(view, system) ? `, ${number.count(ties)} ties` : ""}`);
  return lines.join("\n");
}

// Arrow keys, Home and End go from cell to cell; only one of them is in the order of the Tab key.
function arrows(event) {
  const cell = event.target.closest(".cell"), step = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0], Home: [0, -1e9], End: [0, 1e9] }[event.key];
  if (!cell || !step) return;
  event.preventDefault();
  const rows = [...event.currentTarget.querySelectorAll("tbody tr, tfoot tr")].map((row) => [...row.querySelectorAll(".cell")]);
  const y = rows.findIndex((row) => row.includes(cell)), x = rows[y].indexOf(cell);
  const clamp = (value, length) => Math.min(Math.max(value, 0), length - 1);
  const next = rows[clamp(y + step[0], rows.length)][clamp(x + step[1], rows[y].length)];
  cell.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}

function tableCsv(view, { systems, rows, reference }) {
  const names = [view.measure, "n", "n_excluded", "n_ties", "ci_low", "ci_high", "reliable"];
  const to = reference < 0 ? [] : [`difference from ${view.systems[reference].name}`, "difference_ci_low", "difference_ci_high", "difference_n"];
  const difference = (row, system) => { if (!to.length || system.column === reference) return to.map(() => null);
    const value = shownValue(view, row, system.column, reference), tested = testedDifference(view, row, system.column, reference) ?? [];
    return [value === null ? null : Number(value.toFixed(6)), tested[1], tested[2], tested[3]]; };
  return csv([[view.corner, view.across ?? "system", ...names, ...to], ...rows.flatMap((row) => systems.filter((system) => row.cells[system.column])
    .map((system) => [row.name, system.name, ...row.cells[system.column].slice(0, names.length), ...difference(row, system)]))]);
}
