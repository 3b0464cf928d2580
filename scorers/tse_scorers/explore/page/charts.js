"use strict";
// Curves and scatter plots as SVG, with names on hover and focus, and their numbers in a table below.

const COLOURS = 8, MARKS = "●■▲◆○□△◇", MOST_COLOURED = 12, BEST = 5, MOST_BANDS = 5;
const MARGIN = { left: 70, right: 16, top: 14, bottom: 96 };

// The size of a chart, made for the window, so that its texts keep their size; and the places of values in it.
function boxOf(widest, height, margin = MARGIN) {
  const width = Math.min(widest, document.documentElement.clientWidth - 24), right = width - margin.right, bottom = height - margin.bottom;
  const scale = (from, to) => (low, high) => (value) => from + (to - from) * (high === low ? 0.5 : (value - low) / (high - low));
  return { ...margin, width, height, right, bottom, x: scale(margin.left, right), y: scale(bottom, margin.top) };
}

function curvesView(view, target) {
  const labels = [...new Set(view.points.map(([, label]) => label))];
  // The models of the tables are those of the curves.
  const ofModels = labels.some((label) => allModels().includes(label)), [key, names] = ofModels ? ["m", allModels()] : ["line", labels];
  const draw = () => {
    const kept = new Set(chosen(names, key)), shown = labels.filter((label) => kept.has(label));
    const toggle = (label, on) => { state.set({ [key]: switched(label, on, names, key) }); draw(); };
    const measures = [...new Set(view.points.map(([measure]) => measure))], places = placesOf(view, shown, labels);
    // Charts of one measure, or of shares, have one scale.
    const isOneScale = view.y || view.points.every(([, , , , value]) => value === null || (value >= 0 && value <= 1));
    const emphasize = (label, on) => target.querySelectorAll("g[data-line]").forEach((line) => line.dataset.line === label && line.classList.toggle("on", on));
    redraw(target, h("p", { class: "tse-note" }, view.caption, shown.length > MOST_COLOURED ? ` The best ${BEST} of ${shown.length} have colours; point at a name to find its line.` : "",
        shown.length <= MOST_BANDS && view.points.some((point) => point[6] !== null) ? " Bands: 95 % intervals." : "",
        view.points.some(([, label, , , value, n]) => shown.includes(label) && value !== null && n !== null && n < view.few) ? ` Faded points rest on fewer than ${view.few} ${view.unit}; do not rely on them.` : "",
        view.points.some((point) => shown.includes(point[1]) && point[4] !== null && point[8] === 0) ? " Hollow points rest on too few units for an interval to rely on." : ""),
      warnings(view.warnings),
      h("div", { class: "charts" }, measures.map((measure) => figure(curveChart(view, measure, isOneScale ? measures : [measure], shown, places), measure, [view.tab, measure, view.limited_to],
        shown.filter((label) => places.has(label)).map((label) => [colour(places.get(label)), markOf(places.get(label)), label])))),
      h("div", { class: "legend", role: "group", "aria-label": "Lines" }, labels.map((label) => h("span", { class: `key ${colour(places.get(label))}`,
        onmouseenter: () => emphasize(label, true), onmouseleave: () => emphasize(label, false), onfocusin: () => emphasize(label, true), onfocusout: () => emphasize(label, false) },
        h("span", { "aria-hidden": "true" }, markOf(places.get(label))), checkbox(label, shown.includes(label), (on) => toggle(label, on), `line:${label}`)))),
      measures.map((measure) => h("details", { "data-key": `numbers:${measure}` }, h("summary", {}, `${measure}: the numbers`), curveNumbers(view, measure, shown))));
  };
  draw();
}

// The place of each line among the colours and marks; of many lines only the best have one, and the others are grey.
function placesOf(view, shown, labels) {
  if (labels.length <= MOST_COLOURED) return new Map(labels.map((label, place) => [label, place]));
  if (shown.length <= MOST_COLOURED) return new Map(shown.map((label, place) => [label, place]));
  const sums = new Map(shown.map((label) => [label, [0, 0]]));
  for (const [, label, , , value] of view.points)
    if (sums.has(label) && value !== null) { const sum = sums.get(label); sum[0] += value; sum[1] += 1; }
  const mean = (label) => sums.get(label)[0] / (sums.get(label)[1] || 1);
  return new Map([...shown].sort((a, b) => mean(b) - mean(a)).slice(0, BEST).map((label, place) => [label, place]));
}
const markOf = (place) => MARKS[Math.floor((place ?? 0) / COLOURS) % MARKS.length];
const colour = (place) => place === undefined ? "rest" : `c${place % COLOURS}`;

function curveChart(view, measure, onScale, shown, places) {
  const points = view.points.filter((point) => point[0] === measure), drawn = view.points.filter((point) => onScale.includes(point[0]) && shown.includes(point[1])).map((point) => point[8] === 0 ? [...point.slice(0, 6), null, null] : point);
  const [low, high, step] = rangeOf(drawn.flatMap((point) => shown.length <= MOST_BANDS ? [point[4], point[6], point[7]] : [point[4]]).filter((value) => value !== null));
  const spots = [...view.places, ...view.ticks].map(([, place]) => place), isShort = view.ticks.length <= 6, box = boxOf(640, isShort ? 340 : 390, isShort ? { ...MARGIN, bottom: 46 } : MARGIN);
  const x = box.x(Math.min(...spots), Math.max(...spots)), y = box.y(low, high), text = (value) => number.score(value, view.digits);
  const svg = frame(box, `${measure}. Arrow keys go from point to point.`, [x, view.ticks.map(([name, place]) => [place, name]), view.axis],
    [y, ticksOf(low, high, step), view.y || measure]);
  for (const label of [...shown].sort((a, b) => places.has(a) - places.has(b))) {  // grey lines below the others
    const place = places.get(label), own = points.filter((point) => point[1] === label && point[4] !== null)
      .map(([, , side, at, value, n, lower, upper, reliable]) => ({ side, hollow: reliable === 0, name: view.places[at][0], value, n, lower, upper, few: n !== null && n < view.few, x: x(view.places[at][1]), y: y(value) })).sort((a, b) => a.x - b.x);
    const pieces = piecesOf(own), banded = shown.length <= MOST_BANDS ? pieces.map((piece) => piece.points.filter(({ lower, upper, hollow }) => lower !== null && upper !== null && !hollow)).filter((piece) => piece.length > 1) : [];
    svg.append(h("g", { class: colour(place), "data-line": label },
      banded.map((piece) => h("polygon", { class: "band", points: [...piece.map((point) => `${point.x},${y(point.lower)}`), ...piece.reverse().map((point) => `${point.x},${y(point.upper)}`)].join(" ") })),
      pieces.map(({ few, points: piece }) => h("polyline", { class: few ? "line few" : "line", points: piece.map((point) => `${point.x},${point.y}`).join(" ") })),
      own.map((point) => { const drawn = mark(Math.floor((place ?? 0) / COLOURS), point.x, point.y, `${label} · ${measure}, ${point.name}: ${text(point.value)}${point.lower === null ? "" : ` (95 % interval: ${text(point.lower)} to ${text(point.upper)})`}\n${number.count(point.n)} ${view.unit}`);
        if (point.few) drawn.classList.add("few");
        if (point.hollow) drawn.classList.add("hollow");
        return drawn; })));
  }
  return keyboard(svg);
}

// The ends of a vertical axis and the distance of its marks: for scores from 0 to 1, and for other numbers.
function rangeOf(values) {
  const least = Math.min(...values), most = Math.max(...values);
  if (!values.length || (least >= 0 && most <= 1)) return [values.length ? Math.floor(10 * Math.min(0.9, least)) / 10 : 0, 1, 0.1];
  const size = 10 ** Math.floor(Math.log10(most - Math.min(0, least))), step = [0.2, 0.5, 1, 2].map((share) => share * size).find((each) => (most - least) / each <= 8) ?? size;
  return [step * Math.floor(Math.min(0, least) / step), step * Math.ceil(most / step), step];
}

const ticksOf = (low, high, step) => Array.from({ length: Math.max(1, Math.round((high - low) / step)) + 1 }, (_, i) => low + i * step);

// The pieces of a line: a new one on the other side, and where what joins two points becomes faded or no longer is.
function piecesOf(points) {
  const pieces = [];
  points.slice(1).forEach((point, i) => { const before = points[i], few = before.few || point.few, last = pieces.at(-1);
    if (before.side !== point.side) return;
    if (last?.few === few && last.points.at(-1) === before) last.points.push(point); else pieces.push({ few, points: [before, point] });
  });
  return pieces;
}

function curveNumbers(view, measure, shown) {
  const found = new Map(view.points.filter((point) => point[0] === measure).map(([, label, , at, value]) => [`${label}\n${at}`, value]));
  return plainTable(["", ...view.places.map(([name]) => name)], shown.map((label) => [label, ...view.places.map((_, at) => number.score(found.get(`${label}\n${at}`) ?? null, view.digits))]), measure);
}

function pointsView(view, target) {
  const { columns } = view, groups = [...new Set(columns.label)], all = columns.item.map((_, i) => i).filter((i) => columns.x[i] !== null && columns.y[i] !== null);
  const draw = () => {
    const words = state.get("q").toLowerCase();
    const shown = all.filter((i) => !words || `${columns.item[i]} ${columns.label[i]}`.toLowerCase().includes(words));
    redraw(target, h("div", { class: "tools" }, searchBox("Find a point", state.get("q"), (value) => { state.set({ q: value || null }); draw(); }),
        button("Download CSV", () => download([view.tab, view.limited_to], "csv", "text/csv", csv([Object.values(view.headings), ...shown.map((i) => Object.keys(view.headings).map((name) => columns[name][i]))])))),
      warnings(view.warnings),
      figure(scatter(view, shown, groups), view.caption, [view.tab, view.limited_to], groups.map((name, place) => [`c${place % COLOURS}`, "●", name])),
      h("div", { class: "legend" }, groups.map((name, place) => h("span", { class: `key c${place % COLOURS}` }, h("span", { "aria-hidden": "true" }, "●"), ` ${name}`))),
      h("details", { "data-key": "numbers" }, h("summary", {}, `The numbers: ${shown.length} ${view.unit}`),
        plainTable(Object.values(view.headings), shown.map((i) => Object.keys(view.headings).map((name) => cellText(columns[name][i]))), view.caption)));
  };
  draw();
}
const cellText = (value) => value === null ? MISSING : typeof value === "string" ? value : Number.isInteger(value) ? String(value) : signOf(value).replace("+", "") + bounded(Math.abs(value), 2);

function scatter(view, shown, groups) {
  const { columns } = view, known = (values) => values.filter((value) => value !== null);
  const range = (values) => { const [low, high] = values.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity]);
    return low < high ? [low, high] : [low - 1, low + 1]; };
  const same = view.same_scale ? rangeOf(known([...columns.x, ...columns.y])) : null;
  const [xl, xh] = same ?? range(known(columns.x)), [yl, yh] = same ?? range(known(columns.y));
  const box = boxOf(560, 440, { ...MARGIN, bottom: 46 }), x = box.x(xl, xh), y = box.y(yl, yh);
  const ticks = (low, high) => ticksOf(low, high, same ? same[2] : (high - low) / 4);
  const svg = frame(box, `${view.y} against ${view.x}. Arrow keys go from point to point.`, [x, ticks(xl, xh).map((value) => [value, Number(value.toPrecision(3))]), view.x], [y, ticks(yl, yh), view.y]);
  if (same) svg.append(h("line", { class: "equal", x1: x(xl), y1: y(yl), x2: x(xh), y2: y(yh) }));
  for (const i of shown) svg.append(h("g", { class: `c${groups.indexOf(columns.label[i]) % COLOURS}` },
    dot(x(columns.x[i]), y(columns.y[i]), `${columns.item[i]} (${columns.label[i]})\n${view.x}: ${cellText(columns.x[i])}\n${view.y}: ${cellText(columns.y[i])}`, 4.5)));
  return keyboard(svg);
}

// Each round of colours has its own mark, as in the legend.
const mark = (round, x, y, text) => round === 0 ? dot(x, y, text, 3)
  : h("text", { x: x.toFixed(1), y: (y + 3.5).toFixed(1), "text-anchor": "middle", "data-tip": text, "aria-label": text, role: "img", tabindex: "-1", class: "dot" }, MARKS[round % MARKS.length]);
const dot = (cx, cy, text, r) => h("circle", { cx: cx.toFixed(1), cy: cy.toFixed(1), r, "data-tip": text, "aria-label": text, role: "img", tabindex: "-1", class: "dot" });

// The axes: their places, their ticks and their titles.
function frame(box, name, [x, xTicks, xTitle], [y, yTicks, yTitle]) {
  const slanted = xTicks.length > 6 && xTicks.some(([, text]) => String(text).length > 4), every = Math.ceil(xTicks.length / (slanted ? (box.right - box.left) / 34 : 6));
  const middle = (box.left + box.right) / 2;
  return h("svg", { viewBox: `0 0 ${box.width} ${box.height}`, style: `max-width:${box.width}px`, role: "group", "aria-label": name },
    yTicks.map((value) => h("g", {}, h("line", { class: "grid", x1: box.left, x2: box.right, y1: y(value), y2: y(value) }),
      h("text", { x: box.left - 6, y: y(value) + 4, "text-anchor": "end" }, String(Number(value.toPrecision(3))).replace("-", "−")))),
    xTicks.filter((_, i) => (xTicks.length - 1 - i) % every === 0).map(([value, text]) => h("text", slanted
      ? { transform: `translate(${x(value) + 4},${box.bottom + 13}) rotate(-50)`, "text-anchor": "end" }
      : { x: x(value), y: box.bottom + 16, "text-anchor": "middle" }, String(text).replace("-", "−"))),
    h("text", { x: middle, y: box.height - 4, "text-anchor": "middle" }, xTitle),
    h("text", { transform: `translate(12,${(box.top + box.bottom) / 2}) rotate(-90)`, "text-anchor": "middle" }, yTitle));
}

// One point is in the order of the Tab key; arrow keys go to the others.
function keyboard(svg) {
  const dots = [...svg.querySelectorAll(".dot")];
  if (dots[0]) dots[0].setAttribute("tabindex", "0");
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key], place = dots.indexOf(event.target);
    if (!step || place < 0) return;
    event.preventDefault();
    const next = dots[(place + step + dots.length) % dots.length];
    event.target.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  });
  return svg;
}

function figure(svg, caption, file, legend) {
  return h("figure", { class: "chart" }, svg, h("figcaption", {}, caption, " ", button("Download SVG", () => download(file, "svg", "image/svg+xml", standalone(svg, legend)), { "data-key": `svg:${caption}` })));
}

// A copy with its colours and its legend inside, which other programs can open.
function standalone(svg, legend) {
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number), line = 16;
  const names = h("g", {}, legend.map(([look, sign, name], i) => h("g", { class: look }, h("text", { x: MARGIN.left, y: height + line * (i + 1), style: "fill: var(--c)" }, `${sign} ${name}`))));
  svg.append(names);  // where its styles are known
  const copy = svg.cloneNode(true), from = [svg, ...svg.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((each, i) => { const style = getComputedStyle(each);
    for (const name of ["fill", "stroke", "stroke-width", "stroke-dasharray", "font-size", "font-family", "opacity"]) to[i].style.setProperty(name, style.getPropertyValue(name)); });
  names.remove();
  copy.setAttribute("viewBox", `0 0 ${width} ${height + line * (legend.length + 0.5)}`);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return new XMLSerializer().serializeToString(copy);
}

function plainView(view, target) {
  redraw(target, h("p", { class: "tse-note" }, view.caption), plainTable(view.headings, view.rows, view.caption), view.note ? h("p", { class: "tse-note" }, view.note) : null);
}

function plainTable(headings, rows, label) {
  return h("div", { class: "tse-scroll", role: "region", tabindex: "0", "aria-label": label }, h("table", { class: "tse-plain" },
    h("thead", {}, h("tr", {}, headings.map((text) => h("th", { scope: "col" }, text)))),
    h("tbody", {}, rows.map(([first, ...others]) => h("tr", {}, h("th", { scope: "row" }, first), others.map((text) => h("td", {}, text)))))));
}
