"use strict";
// The tabs, their controls, and what is drawn when the address changes.

const VIEWS = { curves: curvesView, points: pointsView, plain: plainView, notice: (view, target) => redraw(target, problem(view.text)) };
let drawn = 0;

async function start() {
  const main = document.getElementById("main");
  try { await tse.load("start"); } catch (error) { main.replaceChildren(problem(error.message)); return; }
  const { title, problems, runs, systems: { length: n }, n_names: names, n_revisions: revisions } = tse.data.get("start");
  const counted = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`, apart = [revisions > names ? "checkpoint" : "", n > revisions ? "run" : ""].filter(Boolean).join(" and "), each = apart ? ` (each ${apart} counts; ${counted(names, "name")})` : "";
  document.getElementById("header").replaceChildren(h("h1", {}, title),
    h("p", { class: "tse-note" }, n ? `${counted(runs.length, "run")}, ${counted(n, "model")}${each}.` : "No results: type a sentence, or start with the output folders of tse run."),
    ...problems.map(problem));
  window.addEventListener("popstate", show);
  show();
}

function titles() {
  const { tabs, live, runs } = tse.data.get("start");
  return [...new Set([...tabs.map((tab) => tab.title), ...(live ? ["Sentences"] : []), ...(runs.length ? ["Runs"] : [])])];
}

function show() {
  const all = titles(), title = all.includes(state.get("tab")) ? state.get("tab") : all[0];
  const tabs = h("div", { role: "tablist", "aria-label": "Results" }, all.map((name) => h("button", {
    type: "button", role: "tab", id: `tab-${name}`, "aria-selected": String(name === title), "aria-controls": "panel", tabindex: name === title ? "0" : "-1",
    "data-key": `tab:${name}`, onclick: () => goTo(name) }, name)));
  tabs.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -all.indexOf(title), End: all.length - 1 - all.indexOf(title) }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    goTo(all[(all.indexOf(title) + step + all.length) % all.length]);
  });
  const panel = h("div", { role: "tabpanel", id: "panel", "aria-labelledby": `tab-${title}` });
  redraw(document.getElementById("main"), tabs, panel);
  drawPanel(title, panel);
}

function goTo(title) {
  const other = title !== (state.get("tab") || titles()[0]);
  if (other) state.set(elsewhere({ tab: title }), true);
  show();
  document.getElementById(`tab-${title}`).focus();
}

function drawPanel(title, panel) {
  if (title === "Sentences") return sentenceTab(panel);
  if (title === "Runs") return redraw(panel, tse.data.get("start").runs.map((run) => h("details", { class: "tse-runs", open: tse.data.get("start").runs.length === 1 }, h("summary", {}, run.name), h("pre", {}, run.text))));
  const tabs = tse.data.get("start").tabs, parts = tabs.filter((tab) => tab.title === title);
  const part = parts.find((each) => each.part === state.get("part")) ?? parts[0];
  return part ? drawPart(part, parts, tabs.indexOf(part), panel) : redraw(panel, problem("There is nothing to show. Start with the output folders of tse run."));
}

// A link to the items behind a model's score names its data, and the row where several are over everything.
function openWhole({ rows, systems, items }) {
  const data = state.get("whole"), model = state.get("a"), ofData = (rows ?? []).filter((each) => each.place?.[0] === data);
  const named = state.get("row"), row = ofData.find((each) => named ? each.name === named : each.place[1] === "all") ?? (ofData.length === 1 ? ofData[0] : null);
  const system = systems?.find(({ name }) => name === `${model} (${data})`) ?? systems?.find(({ name }) => name === model);
  state.set({ whole: null, ...(row && system && items?.rows[row.name] ? { row: row.name, a: system.name } : { row: null, a: null }) });
}

const drawBlock = (data, target, open) => data.kind === "table" ? tableView(data, target, open) : VIEWS[data.kind](data, target);

async function drawPart(part, parts, place, panel) {
  const mine = ++drawn;
  const choice = part.controls.map((control, i) => Math.max(0, control.choices.indexOf(state.get(`c${i}`))));
  const again = (changes) => { state.set({ row: null, a: null, b: null, page: null, ...changes }, true); drawPanel(part.title, panel); };
  const controls = h("div", { class: "tools" },
    parts.length > 1 ? select("Show", parts.map((each) => each.part), part.part, (value) => again({ part: value, c0: null, c1: null, sort: null, q: null, line: null }), "part") : null,
    part.controls.map((control, i) => select(control.label, control.choices, control.choices[choice[i]], (value) => again({ [`c${i}`]: value }), `c${i}`)));
  const terms = Object.entries(part.terms), view = h("div", { class: "view" }), more = h("div", {}), items = h("section", { class: "items", "aria-label": "Items" });
  redraw(panel, controls, view, items, more, terms.length ? h("details", { "data-key": "terms" }, h("summary", {}, "What the scores mean"),
    h("dl", { class: "tse-terms" }, terms.flatMap(([name, text]) => [h("dt", {}, name), h("dd", {}, text)]))) : null);
  view.append(h("p", {}, "Loading …"));
  try {
    const position = [place, ...choice].join("-"), data = await tse.load(`view/${position}`);
    if (mine !== drawn) return;
    Object.assign(data, { tab: part.title });
    for (const each of data.more ?? []) {
      const below = h("div", { class: "view" });
      more.append(below);
      drawBlock(Object.assign(each, { tab: part.title }), below, () => {});
    }
    if (state.all().has("whole")) openWhole(data);
    if (data.kind !== "table") return drawBlock(data, view);
    const open = (row, system, other) => {
      state.set({ row, a: system, page: null, f: null, find: null, ...(other ? { b: other, order: "apart" } : {}) }, true);
      showItems();
    };
    const showItems = async () => {
      await itemsView(data, items);
      const title = document.getElementById("items-title");
      title?.focus();
      title?.scrollIntoView();
    };
    drawBlock(data, view, open);
    if (state.get("row")) itemsView(data, items);
  } catch (error) { redraw(view, problem(error.message)); }
}

start();
