"use strict";
// What all parts share: data, elements, the state in the address, numbers as text, downloads.

const tse = { data: new Map(), loading: new Map() };

// Each file of data calls this; a page opened from disk may load scripts, but not other files.
tse.add = (name, data) => tse.data.set(name, data);

tse.load = (name) => {
  if (tse.data.has(name)) return Promise.resolve(tse.data.get(name));
  if (!tse.loading.has(name)) tse.loading.set(name, new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `data/${name.split("/").map(encodeURIComponent).join("/")}.js`;
    script.onload = () => resolve(tse.data.get(name));
    script.onerror = () => { tse.loading.delete(name); reject(new Error(
      tse.data.get("start")?.live ? `The server did not send ${name}. Reload the page; if that does not help, check that tse explore is still running.`
        : `data/${name}.js is missing. These scores are not part of this folder; export it again.`)); };
    document.head.append(script);
    script.remove();
  }));
  return tse.loading.get(name);
};

// An element: h("td", {class: "x", onclick: f}, "text", child). Texts are never parsed as HTML.
function h(tag, attributes = {}, ...children) {
  const element = h.svg.has(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") element.style.cssText = value;
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}
h.svg = new Set(["svg", "g", "line", "circle", "text", "polyline", "polygon"]);

// The start and the end of a long name: versions and seeds stand at the end.
function shortened(name, width = 40) {
  const letters = [...name], tail = Math.floor((width - 1) / 2);
  return letters.length <= width ? name : [...letters.slice(0, width - 1 - tail), "…", ...letters.slice(-tail)].join("");
}

// A name that may break after / _ @ and -, so that its column can be narrow.
function breakable(name) {
  return name.split(/(?<=[\/_@-])/).flatMap((part) => [part, document.createElement("wbr")]).slice(0, -1);
}

// The state is in the address, so that a link shows the same and the way back works.
const state = {
  all: () => new URLSearchParams(location.hash.slice(1)),
  get: (key, otherwise = "") => state.all().get(key) ?? otherwise,
  list: (key) => state.all().getAll(key),
  // null removes a key; a list sets it several times. `push` makes a step that "back" undoes.
  set(changes, push = false) { history[push ? "pushState" : "replaceState"](null, "", state.with(changes)); },
  // The address after some changes, for a link.
  with(changes) {
    const params = state.all();
    for (const [key, value] of Object.entries(changes)) {
      params.delete(key);
      for (const each of Array.isArray(value) ? value : [value])
        if (each !== null && each !== undefined) params.append(key, each);
    }
    return `#${params}`;
  },
};

// What the address says of the present view alone; the chosen models stay where another view is opened.
const OF_A_VIEW = ["part", "sort", "dir", "q", "row", "a", "b", "f", "find", "order", "page", "line", "whole"];
const elsewhere = (changes) => { const leave = [...state.all().keys()].filter((key) => OF_A_VIEW.includes(key) || /^c\d+$/.test(key));
  return { ...Object.fromEntries(leave.map((key) => [key, null])), ...changes }; };

// Models are chosen for all views at once. Names in the address: these; no name: all; the sign for none: no others.
const NONE = "";
const allModels = () => tse.data.get("start").systems;

// The names that are chosen: all of them where the address names none of them.
function chosen(names = allModels(), key = "m") {
  const wanted = new Set(state.list(key));
  return wanted.has(NONE) || names.some((name) => wanted.has(name)) ? names.filter((name) => wanted.has(name)) : names;
}

// The names in the address after one is switched on or off.
function switched(name, on, names = allModels(), key = "m") {
  const before = new Set(chosen(names, key)), kept = names.filter((each) => each === name ? on : before.has(each));
  return kept.length === names.length ? null : kept.length ? kept : [NONE];
}

const MISSING = "–";
const signOf = (value) => value > 0 ? "+" : value < 0 ? "−" : "";
function bounded(value, digits) {  // what is not exactly 1 is not printed as 1
  const text = value.toFixed(digits), least = 10 ** -digits;
  if (Number(text) === 1 && value < 1) return `>${(1 - least).toFixed(digits)}`;
  return Number(text) === 0 && value > 0 ? `<${least.toFixed(digits)}` : text;
}
const number = {
  // A share, 0 to 1; other numbers, such as bits or changes, with as many decimals.
  score: (value, digits = 2, isShare = true) => value === null || Number.isNaN(value) ? MISSING
    : isShare ? bounded(value, digits) : value.toFixed(digits).replace("-", "−"),
  // A difference of scores, as in the report: with three decimals.
  difference(value) {
    if (value === null || Number.isNaN(value)) return MISSING;
    const size = Math.abs(value), text = size.toFixed(3);
    if (size >= 0.9995 && size < 1 - 1e-12) return `${value > 0 ? ">+" : "<−"}0.999`;
    return Number(text) === 0 ? text : signOf(value) + text;
  },
  signed: (value) => value === null || Number.isNaN(value) ? MISSING : signOf(value) + Math.abs(value).toFixed(2),
  logprob: (value) => value === null || Number.isNaN(value) ? MISSING : value.toFixed(2).replace("-", "−"),
  count: (value) => value === null ? "?" : String(value).replace(/\B(?=(\d{3})+$)/g, ","),
};

let controls = 0;
function labelled(label, control, look = "") {
  control.id = `control-${++controls}`;
  return h("div", { class: `control ${look}` }, h("label", { for: control.id }, label), control);
}
function select(label, options, value, change, key) {
  const list = h("select", { "data-key": key ?? label, onchange: () => change(list.value) },
    options.map((option) => { const [v, text] = Array.isArray(option) ? option : [option, option];
      return h("option", { value: v, selected: v === value }, text); }));
  return labelled(label, list);
}
function checkbox(label, checked, change, key, title) {
  const box = h("input", { type: "checkbox", "data-key": key ?? label, onchange: () => change(box.checked) });
  box.checked = checked;
  return h("label", { class: "check", title }, box, " ", label);
}
function searchBox(label, value, change) {
  let timer;
  const box = h("input", { type: "search", "data-key": label, value,
    oninput: () => { clearTimeout(timer); timer = setTimeout(() => change(box.value), 200); } });
  return labelled(label, box);
}
// A button that opens a sheet of controls; Escape and a press elsewhere close it.
const menu = (key, label, ...inside) => h("details", { class: "menu", "data-key": key }, h("summary", { "data-key": `${key}-summary` }, label), h("div", { class: "sheet" }, inside));
document.addEventListener("click", (event) => { for (const each of document.querySelectorAll(".menu[open]"))
  if (!event.composedPath().some((above) => above.classList?.contains("menu"))) each.open = false; });
document.addEventListener("keydown", (event) => { const open = event.key === "Escape" && event.target.closest(".menu[open]");
  if (open) { open.open = false; open.firstChild.focus(); } });
// Boxes to choose from, and a search among them where they are many: [search, list].
function searchable(boxes, key, text = "", typed = () => {}) {
  const list = h("div", { class: "choices" }, boxes);
  const search = h("input", { type: "search", "data-key": key, "aria-label": "Find a model", placeholder: "Find a model", value: text, oninput: () => { typed(search.value); narrow(); } });
  const narrow = () => { for (const each of boxes) each.hidden = !each.textContent.toLowerCase().includes(search.value.toLowerCase()); };
  narrow();
  return [boxes.length > 6 ? search : null, list];
}
const button = (label, press, attributes = {}) => h("button", { type: "button", "data-key": label, onclick: press, ...attributes }, label);
// What makes scores incomparable; of many sentences the first one is there, and the others on request.
const warnings = (texts = []) => texts.length > 2
  ? h("details", { class: "tse-note warning", "data-key": "warnings" }, h("summary", {}, `${texts[0]} (${texts.length - 1} more warnings)`), h("ul", {}, texts.slice(1).map((text) => h("li", {}, text))))
  : texts.length ? h("p", { class: "tse-note warning" }, texts.join(" ")) : null;
const problem = (text) => h("p", { class: "tse-problem", role: "alert" }, h("strong", {}, "⚠ "), text);

// Replace an element's children; the focus, and the place in a text, stay where they were.
function redraw(element, ...children) {
  const old = element.contains(document.activeElement) ? document.activeElement : null;
  const key = old?.dataset.key, place = old?.type === "search" ? old.selectionStart : null;
  const open = new Set([...element.querySelectorAll("details[open][data-key]")].map((each) => each.dataset.key));
  const scrolled = [...element.querySelectorAll(".tse-scroll")].map((each) => [each.scrollLeft, each.scrollTop]);
  element.replaceChildren(...children.flat().filter(Boolean));
  for (const each of element.querySelectorAll("details[data-key]")) if (open.has(each.dataset.key)) each.open = true;
  [...element.querySelectorAll(".tse-scroll")].forEach((each, i) => { if (scrolled[i]) [each.scrollLeft, each.scrollTop] = scrolled[i]; });
  if (key === undefined) return;
  const again = [...element.querySelectorAll("[data-key]")].find((each) => each.dataset.key === key);
  again?.focus({ preventScroll: true });
  if (place !== null) again?.setSelectionRange(place, place);
}

// The name of a file says what is in it: the tab, the measure, what the view is limited to.
const fileName = (parts, ending) => `${parts.filter(Boolean).join(" ").toLowerCase().replace(/[^\p{L}\p{N}.]+/gu, "-").slice(0, 120).replace(/^[-.]+|[-.]+$/g, "")}.${ending}`;
function download(parts, ending, type, text) {
  const link = h("a", { href: URL.createObjectURL(new Blob([text], { type })), download: fileName(parts, ending) });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
// A spreadsheet must not take a text for a formula.
const csvCell = (value) => { let text = value === null || value === undefined || Number.isNaN(value) ? "" : String(value);
  if (typeof value === "string" && /^[=+\-@\t\r]/.test(text)) text = `'${text}`;
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text; };
// Without the columns that are empty throughout.
const filled = ([names, ...rows]) => { const kept = names.map((_, i) => !rows.length || rows.some((row) => row[i] !== null && row[i] !== undefined && row[i] !== ""));
  return [names, ...rows].map((row) => row.filter((_, i) => kept[i])); };
const csv = (rows) => filled(rows).map((row) => row.map(csvCell).join(",")).join("\n") + "\n";

// Elements with data-tip say more when the mouse or the focus is on them; Escape hides it.
const tip = {
  show(target) {
    const box = document.getElementById("tip"), place = target.getBoundingClientRect();
    box.textContent = target.dataset.tip;
    box.hidden = false;
    target.setAttribute("aria-describedby", "tip");
    const left = Math.min(Math.max(4, place.left), innerWidth - box.offsetWidth - 4);
    const below = place.bottom + 6 + box.offsetHeight < innerHeight;
    box.style.left = `${left}px`;
    box.style.top = `${below ? place.bottom + 6 : Math.max(4, place.top - box.offsetHeight - 6)}px`;
  },
  hide() { document.getElementById("tip").hidden = true; document.querySelectorAll("[aria-describedby=tip]").forEach((each) => each.removeAttribute("aria-describedby")); },
};
// What has the focus keeps its tip while the page scrolls to it, and below a mouse that rests.
const leave = () => {
  const focused = document.activeElement;
  if (focused?.getAttribute("aria-describedby") === "tip") tip.show(focused); else tip.hide();
};
for (const [event, shows] of [["mouseover", 1], ["focusin", 1], ["mouseout", 0], ["focusout", 0]])
  document.addEventListener(event, (happened) => {
    const target = happened.target.closest?.("[data-tip]");
    if (target && shows) tip.show(target); else if (event === "focusout") tip.hide(); else leave();
  });
document.addEventListener("keydown", (event) => { if (event.key === "Escape") tip.hide(); });
document.addEventListener("scroll", leave, true);
