"use strict";
// A table with one column per system: choose, filter, sort, compare with one system, open the items of a score.

const SHADES = 12, MANY = 12, NARROWEST = 8;
let modelSearch = "";  // stays while models are chosen

function tableView(view, target, open) {
  const draw = () => redraw(target, drawTable(view, (changes) => { state.set(changes); draw(); }, open));
  draw();
}

function chosenSystems(view) {
  const ours = view.systems.filter((system) => !system.published).map((system) => system.name), own = chosen(ours);
  const published = state.get("published", view.systems.length <= MANY || ours.length === 0 ? "1" : "0") === "1";
  return view.systems.map((system, column) => ({ ...system, column }))
    .filter((system) => system.published ? published : own.includes(system.name));
}

function drawTable(view, change, open) {
  const systems = chosenSystems(view);
  const reference = view.systems.findIndex((system) => system.name === state.get("ref"));
  const rows = sortedRows(view, reference);
  const shown = { systems, rows, reference, shade: state.get("shade", "1") === "1", intervals: state.get("ci", "bars") };
  const body = rows.filter((row) => !row.total), totals = rows.filter((row) => row.total);
  const table = h("table", { class: "tse-table" },
    h("caption", {}, caption(view, reference), view.warning ? h("span", { class: "warning" }, view.warning) : null),
    h("thead", {}, h("tr", {}, heading(view.corner, "", change), systems.map((system) => heading(system.name, system.name, change, system, view.badges)))),
    h("tbody", {}, systems.length ? null : h("tr", {}, h("th", { scope: "row" }, "No model is chosen.")), body.map((row) => tableRow(view, row, shown, open))),
    totals.length ? h("tfoot", {}, totals.map((row) => tableRow(view, row, shown, open))) : null);
  table.addEventListener("keydown", arrows);
  const first = table.querySelector("tbody .cell, tfoot .cell");
  if (first) first.tabIndex = 0;
  const note = `Each score: hover or focus it for its interval and counts (ties ${view.ties}).` +
    (view.items ? ` Press it to see its ${view.items.unit}.` : "") +
    (rows.some((row) => systems.some((system) => row.cells[system.column] && badgesOf(view, row.cells[system.column]).length)) ? ` ⚠: few items (fewer than ${view.few}), an interval over few units, or all ties; do not rely on these scores.` : "") +
    (reference >= 0 ? " Differences have no interval here; tse compare tests them on shared items." : "");
  return [tools(view, systems, reference, change, shown),
    h("div", { class: "tse-scroll", role: "region", tabindex: "0", "aria-label": view.caption }, table),
    h("p", { class: "tse-note" }, note)];
}

const caption = (view, reference) => h("span", {}, reference < 0 ? view.caption
  : `${view.caption} Differences from ${view.systems[reference].name}${view.percent ? ", in percentage points" : ""}.`);

function tools(view, systems, reference, change, shown) {
  const ours = view.systems.filter((system) => !system.published);
  const names = ours.map((system) => system.name), own = chosen(names);
  const toggle = (name, on) => change({ m: switched(names, name, on) });
  const filter = h("input", { type: "search", "data-key": "find-model", "aria-label": "Find a model", placeholder: "Find a model", value: modelSearch,
    oninput: () => { modelSearch = filter.value; narrow(); } });
  const list = h("div", { class: "choices" }, ours.map((system) => checkbox(system.name, own.includes(system.name), (on) => toggle(system.name, on), `m:${system.name}`)));
  const narrow = () => { for (const each of list.children) each.hidden = !each.textContent.toLowerCase().includes(modelSearch.toLowerCase()); };
  narrow();
  return h("div", { class: "tools" },
    menu("models", `Models: ${systems.filter((system) => !system.published).length} of ${ours.length}`, ours.length > 6 ? filter : null,
      h("div", { class: "pair" }, button("All models", () => change({ m: null })), button("No models", () => change({ m: [NONE] }))), list,
      view.systems.length > ours.length ? checkbox("Published scores", systems.some((system) => system.published), (on) => change({ published: on ? "1" : "0" })) : null),
    searchBox("Find a row", state.get("q"), (value) => change({ q: value || null })),
    select("Difference from", [["", "(none: show scores)"], ...view.systems.map((system) => system.name)], state.get("ref"), (value) => change({ ref: value || null })),
    menu("display", "Display", select("Intervals", [["bars", "as bars"], ["text", "as numbers"], ["none", "hidden"]], shown.intervals, (value) => change({ ci: value === "bars" ? null : value })),
      checkbox("Shading", shown.shade, (on) => change({ shade: on ? null : "0" }))),
    button("Download CSV", () => download([view.tab, view.measure, view.limited_to, reference >= 0 ? "differences" : ""], "csv", "text/csv", tableCsv(view, shown))));
}

const badge = (name, badges) => h("span", { class: "badge", title: badges[name] }, name);

// What makes a score unusable, as in the report.
function badgesOf(view, [score, n, , ties, , , reliable]) {
  if (n === null || n === 0) return [];
  return [...(ties >= n && (score === 0 || score === 0.5) ? ["all ties"] : []), ...(n < view.few ? ["few items"] : []), ...(reliable === 0 ? ["few units"] : [])];
}

function heading(text, name, change, system = null, badges = {}) {
  const published = system?.published;
  const sorted = state.get("sort", "\0") === name ? state.get("dir", "desc") : "none";
  const short = shortened(text);
  const next = { none: ["desc", name], desc: ["asc", name], asc: [null, null] }[sorted];
  return h("th", { scope: "col", class: published ? "published" : null, "aria-sort": { none: "none", desc: "descending", asc: "ascending" }[sorted] },
    h("button", { type: "button", "data-key": `sort:${name}`, style: `min-width:${Math.min([...short].length + 2, NARROWEST)}ch`, title: text === short ? null : text, onclick: () => change({ sort: next[1], dir: next[0] }) }, breakable(short)), system?.partial ? badge("partial", badges) : null);
}

// Scores, or differences to the reference; totals stay where they are.
function sortedRows(view, reference) {
  const words = state.get("q").toLowerCase();
  const rows = view.rows.map((row, index) => ({ ...row, index, cells: view.cells[index] }))
    .filter((row) => row.total || row.name.toLowerCase().includes(words));
  const by = state.get("sort", "\0"), sign = state.get("dir", "desc") === "desc" ? -1 : 1;
  const column = view.systems.findIndex((system) => system.name === by);
  const value = (row) => shownValue(row, column, reference);
  if (by === "") rows.sort((a, b) => -sign * a.name.localeCompare(b.name));  // the first press sorts from A to Z
  else if (column >= 0) rows.sort((a, b) => (value(a) === null) - (value(b) === null) || sign * (value(a) - value(b)));
  return rows;
}

function shownValue(row, column, reference) {
  const score = row.cells[column]?.[0] ?? null;
  if (reference < 0 || column === reference) return score;
  const other = row.cells[reference]?.[0] ?? null;
  return score === null || other === null ? null : score - other;
}

function tableRow(view, row, shown, open) {
  return h("tr", { "data-total": row.total }, h("th", { scope: "row" }, h("span", { class: "name" }, breakable(row.name))),
    shown.systems.map((system) => tableCell(view, row, system, shown, open)));
}

function tableCell(view, row, system, shown, open) {
  const cell = row.cells[system.column];
  const value = shownValue(row, system.column, shown.reference);
  const isDifference = shown.reference >= 0 && system.column !== shown.reference;
  const text = cell && cell[0] === null ? "no score" : value === null ? MISSING
    : isDifference ? number.signed(view.percent ? 100 * value : value, view.percent ? 1 : 2) : number.score(value, view.percent);
  const opens = view.items && cell && cell[1] !== null && view.items.rows[row.name];
  const inner = h(opens ? "button" : "span", { class: "cell", tabindex: "-1", type: opens ? "button" : null,
    "data-key": `cell:${row.name}:${system.name}`, "data-tip": cell ? told(view, row, system, cell) : null }, text);
  const parts = [inner];
  if (cell && cell[4] !== null && cell[5] !== null && !isDifference) {
    if (shown.intervals === "bars") parts.push(h("i", { class: "track" }, h("i", { style: `left:${100 * cell[4]}%;right:${100 - 100 * cell[5]}%` })));
    if (shown.intervals === "text") parts.push(h("small", {}, `${number.score(cell[4], view.percent)} to ${number.score(cell[5], view.percent)}`));
  }
  const unusable = cell ? badgesOf(view, cell) : [];
  if (unusable.length) parts.push(h("span", { class: "doubt", title: unusable.map((name) => view.badges[name]).join(" "), role: "img", "aria-label": unusable.join(", ") }, "⚠"));
  const shade = shown.shade && value !== null && (isDifference || !system.published) ? shadeOf(value, isDifference) : null;
  return h("td", { class: [system.published ? "published" : "", shade ?? "", opens ? "opens" : ""].join(" ").trim() || null,
    onclick: opens ? () => open(row.name, system.name, isDifference && view.systems[shown.reference].file ? view.systems[shown.reference].name : null) : null }, parts);  // the whole cell, not the number alone
}

// A class of the style sheet: darker where the score is lower, or where the difference is larger.
function shadeOf(value, isDifference) {
  if (isDifference) { const step = Math.min(5, Math.round(Math.abs(value) / 0.06)); return step ? `${value > 0 ? "up" : "down"}${step}` : null; }
  const step = Math.min(6, Math.round((1 - value) * SHADES));
  return step > 0 ? `low${step}` : null;
}

function told(view, row, system, [score, n, excluded, ties, low, high, reliable]) {
  const lines = [`${system.name} · ${row.name}: ${score === null ? "no score" : number.score(score, view.percent)}${view.percent && score !== null ? " %" : ""}`];
  if (low !== null && high !== null) lines.push(`95 % interval: ${number.score(low, view.percent)} to ${number.score(high, view.percent)}`);
  for (const name of badgesOf(view, [score, n, excluded, ties, low, high, reliable])) lines.push(`⚠ ${name}: ${view.badges[name]}`);
  lines.push(n === null ? "Published by others." : `${number.count(n)} ${view.unit}, ${number.count(excluded)} excluded, ${number.count(ties)} ties`);
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
  const to = reference < 0 ? [] : [`difference from ${view.systems[reference].name}`];
  const difference = (row, system) => to.map(() => { const value = system.column === reference ? null : shownValue(row, system.column, reference);
    return value === null ? null : Number(value.toFixed(6)); });
  return csv([[view.corner, "system", ...names, ...to], ...rows.flatMap((row) => systems.filter((system) => row.cells[system.column])
    .map((system) => [row.name, system.name, ...row.cells[system.column], ...difference(row, system)]))]);
}
