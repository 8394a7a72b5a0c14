"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const form = document.getElementById("choices"), plot = document.getElementById("plot"), shown = document.getElementById("shown");
const NONE = "", ALL = -2, MOST_PANELS = 9, NUMBERS = Object.keys(data.numbers);
const PLAIN = { colour: "#0072B2", symbol: "circle" };
const axis = (name) => data.axes.find((each) => each.name === name);
const escaped = (text) => String(text).replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign]);
const short = (value) => typeof value === "number" ? String(Number(value.toPrecision(6))) : String(value);
const label = (each, place) => place < 0 ? "none" : short(each.values[place]);
const state = { quantity: 0, x: NONE, colour: NONE, panels: NONE, fixed: {}, log_x: true, log_y: true };

/* Rows and axes of the chosen quantity */

const rowsOf = (quantity) => data.quantity.rows.flatMap((place, row) => place === quantity ? [row] : []);
let rows = [];
let levels = {}; // places that the rows have, by axis

function take(quantity) {
  state.quantity = quantity;
  rows = rowsOf(quantity);
  levels = {};
  for (const each of data.axes) {
    const places = [...new Set(rows.map((row) => each.rows[row]))].sort((a, b) => a - b);
    if (places.filter((place) => place >= 0).length > 1) levels[each.name] = places;
  }
  const names = Object.keys(levels);
  const known = (name) => name === NONE || names.includes(name);
  const size = (name) => settable(name).length, lacking = (name) => Number(levels[name].includes(-1));
  const numeric = names.filter((name) => axis(name).numeric).sort((a, b) => size(b) - size(a) || lacking(a) - lacking(b));
  if (!state.x || !known(state.x)) state.x = numeric.find((name) => name !== "level") || names[0] || NONE;
  const free = names.filter((name) => name !== state.x);
  if (!state.colour || !known(state.colour) || state.colour === state.x) {
    state.colour = free.find((name) => name === "noise" || name === "method")
      || free.find((name) => !axis(name).numeric && levels[name].length <= 8) || free.find((name) => levels[name].length <= 8) || NONE;
  }
  if (!known(state.panels) || [state.x, state.colour].includes(state.panels)) state.panels = NONE;
  for (const name of names) if (!settable(name).includes(state.fixed[name])) state.fixed[name] = middle(name);
}

const settable = (name) => levels[name].filter((place) => place >= 0);

function middle(name) { // the level that has the most rows, and of several the middle one
  const counts = new Map();
  for (const row of rows) counts.set(axis(name).rows[row], (counts.get(axis(name).rows[row]) || 0) + 1);
  const most = Math.max(...settable(name).map((place) => counts.get(place)));
  const best = settable(name).filter((place) => counts.get(place) === most);
  const usual = best.find((place) => name === "level" && axis(name).values[place] === 0.95);
  return usual === undefined ? best[best.length >> 1] : usual;
}

const sliders = () => Object.keys(levels).filter((name) => ![state.x, state.colour, state.panels].includes(name));
const chosen = () => {
  const fixed = sliders().filter((name) => state.fixed[name] !== ALL);
  const fits = (row, name) => [state.fixed[name], -1].includes(axis(name).rows[row]); // -1: the row does not depend on it
  return rows.filter((row) => fixed.every((name) => fits(row, name)));
};

/* Controls */

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value); else if (value !== false) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

function menu(title, options, value, change) {
  const select = element("select", { onchange: () => change(select.value) });
  for (const [key, text] of options) select.append(element("option", { value: key, selected: String(key) === String(value) }, text));
  return element("label", {}, element("span", {}, title), select);
}

function tick(title, key) {
  const box = element("input", { type: "checkbox", onchange: () => { state[key] = box.checked; draw(); } });
  box.checked = state[key];
  return element("label", { class: "tick" }, box, title);
}

function slider(name) {
  const places = settable(name), each = axis(name);
  const text = () => state.fixed[name] === ALL ? "all" : label(each, state.fixed[name]);
  const output = element("output", {}, text());
  const input = element("input", { type: "range", min: 0, max: places.length, step: 1, "aria-label": name });
  input.value = state.fixed[name] === ALL ? places.length : places.indexOf(state.fixed[name]);
  input.addEventListener("input", () => {
    state.fixed[name] = Number(input.value) < places.length ? places[input.value] : ALL;
    output.textContent = text();
    input.setAttribute("aria-valuetext", text());
    draw();
  });
  return element("label", {}, element("span", {}, name + ": ", output), input);
}

function controls() {
  const names = Object.keys(levels);
  const other = (own) => names.filter((name) => !["x", "colour", "panels"].some((key) => key !== own && state[key] === name));
  const pick = (title, key, none) => menu(title, [...(none ? [[NONE, "nothing"]] : []), ...other(key).map((name) => [name, name])],
    state[key], (value) => { state[key] = value; again(); });
  form.replaceChildren(
    menu("quantity", data.quantity.values.map((name, place) => [place, name]), state.quantity, (value) => { take(Number(value)); again(); }),
    pick("x axis", "x", false), pick("colour", "colour", true), pick("panels", "panels", true),
    ...sliders().map(slider), tick("x logarithmic", "log_x"), tick("y logarithmic", "log_y"));
}

function again() { controls(); draw(); }

/* The figure */

const value = (name, row) => data.numbers[name][row] === null ? NaN : Number(data.numbers[name][row]);

function hover(row) {
  const said = data.axes.filter((each) => each.rows[row] >= 0).map((each) => `${each.name} = ${label(each, each.rows[row])}`);
  const number = (name) => short(value(name, row));
  if (!Number.isNaN(value("value", row))) {
    said.push(`simulated ${number("value")}` + (Number.isNaN(value("mcse", row)) ? "" : `, standard error ${number("mcse")}`));
  }
  if (!Number.isNaN(value("lower", row))) said.push(`95% interval ${number("lower")} to ${number("upper")}`);
  for (const name of ["exact", "bound"]) if (!Number.isNaN(value(name, row))) said.push(`${name} ${number(name)}`);
  return [...said, `${data.trials[row].toLocaleString("en")} trials`, `cell ${data.ids[row]}`].map(escaped).join("<br>");
}

function series(places, at, look, name, panel, first) {
  const xs = places.map(at), texts = places.map(hover), group = String(name);
  const base = { x: xs, text: texts, hovertemplate: "%{text}<extra></extra>", legendgroup: group, name: escaped(name),
    xaxis: panel ? `x${panel + 1}` : "x", yaxis: panel ? `y${panel + 1}` : "y" };
  const numbers = (key) => places.map((row) => value(key, row));
  const gap = (key, sign) => places.map((row) => {
    const long = sign * (value(key, row) - value("value", row));
    return Number.isFinite(long) ? Math.max(long, 0) : 0;
  });
  const made = [{ ...base, y: numbers("value"), mode: "markers", showlegend: first,
    marker: { color: look.colour, symbol: look.symbol, size: 8 },
    error_y: { type: "data", array: gap("upper", 1), arrayminus: gap("lower", -1), color: look.colour, thickness: 1.2, width: 3 } }];
  for (const [key, dash] of [["exact", "solid"], ["bound", "dash"]]) {
    if (places.some((row) => Number.isFinite(value(key, row)))) {
      made.push({ ...base, y: numbers(key), mode: "lines", line: { color: look.colour, dash, width: key === "exact" ? 2 : 1.2 },
        showlegend: false, connectgaps: false });
    }
  }
  return made;
}

/* What does not depend on x, as a horizontal line over all of x: one piece for each row */
function flat(places, span, look, name, panel, first) {
  const made = series(places, () => null, look, name, panel, first);
  return made.map((trace) => {
    const repeated = (list) => list.flatMap((each) => [...span.map(() => each), null]);
    const simulated = trace.mode === "markers";
    return { ...trace, x: places.flatMap(() => [...span, null]), y: repeated(trace.y), text: repeated(trace.text), connectgaps: false,
      ...(simulated ? { mode: "lines+markers", line: { color: look.colour, dash: "dot", width: 2 }, error_y: { visible: false } } : {}) };
  });
}

function draw() {
  const taken = chosen(), css = getComputedStyle(document.documentElement), ink = css.getPropertyValue("--ink").trim();
  const at = state.x ? axis(state.x) : { name: "", numeric: false, values: [""], rows: data.ids.map(() => 0) };
  const split = (name) => name ? [...new Set(taken.map((row) => axis(name).rows[row]))].sort((a, b) => a - b) : [NONE];
  const everywhere = split(state.panels).filter((panel) => panel !== -1); // what depends on no panel is in all of them
  const panels = (everywhere.length ? everywhere : split(state.panels)).slice(0, MOST_PANELS), colours = split(state.colour);
  const there = [...new Set(taken.map((row) => at.rows[row]))].filter((place) => place >= 0).sort((a, b) => a - b);
  const all = there.length ? there.map((place) => at.values[place]) : at.values;
  const span = at.numeric ? [all[0], all[all.length - 1]] : all;
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const traces = [], titles = [];
  panels.forEach((panel, number) => {
    if (state.panels) titles.push(`${state.panels} = ${label(axis(state.panels), panel)}`);
    colours.forEach((colour) => {
      const places = taken.filter((row) => (!state.panels || [panel, -1].includes(axis(state.panels).rows[row]))
        && (!state.colour || axis(state.colour).rows[row] === colour)).sort((a, b) => at.rows[a] - at.rows[b]);
      const own = state.colour && colour >= 0 ? axis(state.colour).looks[colour] : PLAIN;
      const look = { ...own, colour: dark && own.colour === "#000000" ? "#ffffff" : own.colour };
      const name = state.colour ? `${state.colour} = ${label(axis(state.colour), colour)}` : data.quantity.values[state.quantity];
      const along = places.filter((row) => at.rows[row] >= 0), across = places.filter((row) => at.rows[row] < 0);
      if (along.length) traces.push(...series(along, (row) => at.values[at.rows[row]], look, name, number, number === 0));
      if (across.length) traces.push(...flat(across, span, look, name, number, number === 0 && !along.length));
    });
  });
  Plotly.react(plot, traces, layout(panels.length, titles, at, taken, ink, css.getPropertyValue("--grid").trim()),
    { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["toImage"] });
  const more = Math.max(everywhere.length, 1) - panels.length;
  shown.textContent = `${taken.length.toLocaleString("en")} of ${data.ids.length.toLocaleString("en")} rows shown`
    + (more > 0 ? `; ${more} panels are left out` : "");
  offer(taken);
}

function layout(count, titles, at, taken, ink, grid) {
  const columns = Math.min(count, innerWidth < 700 ? 1 : 3), lines = Math.ceil(count / columns);
  const positive = (numbers) => numbers.length > 0 && numbers.every((number) => number > 0);
  const xs = taken.filter((row) => at.rows[row] >= 0).map((row) => Number(at.values[at.rows[row]]));
  const ys = taken.flatMap((row) => ["value", "exact"].map((key) => value(key, row))).filter(Number.isFinite);
  const kind = at.numeric ? (state.log_x && positive(xs) ? "log" : "linear") : "category";
  const made = { paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: { color: ink, size: 14 },
    height: 160 + 380 * lines, margin: { l: 70, r: 15, t: 40, b: 60 }, hovermode: "closest", grid: { rows: lines, columns, pattern: "independent" },
    legend: { orientation: "h", y: 1.02, yanchor: "bottom", x: 0 }, annotations: [] };
  const unit = data.units[data.quantity.values[state.quantity]], name = data.quantity.values[state.quantity];
  for (let i = 0; i < Math.max(count, 1); i++) {
    const end = i ? String(i + 1) : "";
    const both = { gridcolor: grid, zerolinecolor: grid, linecolor: ink, exponentformat: "power", automargin: true };
    made["xaxis" + end] = { ...both, type: kind, title: { text: escaped(at.name) } };
    made["yaxis" + end] = { ...both, type: state.log_y && positive(ys) ? "log" : "linear",
      title: { text: i % columns ? "" : escaped(unit && unit !== "1" ? `${name} (${unit})` : name) } };
    if (titles[i]) {
      made.annotations.push({ text: escaped(titles[i]), xref: `x${end} domain`, yref: `y${end} domain`, x: 0, y: 1, yanchor: "bottom", showarrow: false });
    }
  }
  if (titles.length) { // panels have one scale, and their titles the place of the legend
    Object.assign(made.legend, { y: -80 / (380 * lines), yanchor: "top" });
    for (let i = 2; i <= count; i++) Object.assign(made["xaxis" + i], { matches: "x" }), Object.assign(made["yaxis" + i], { matches: "y" });
  }
  return made;
}

/* The rows shown, as a file */

const quoted = (text) => /[",\n\r]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
const safe = (text) => quoted(/^[=@+\t\r-]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text);

function table(taken) {
  const heads = ["quantity", ...data.axes.map((each) => each.name), ...NUMBERS, "trials", "id"];
  const lines = taken.map((row) => [data.quantity.values[data.quantity.rows[row]],
    ...data.axes.map((each) => each.rows[row] < 0 ? "" : String(each.values[each.rows[row]])),
    ...NUMBERS.map((name) => data.numbers[name][row] === null ? "" : String(data.numbers[name][row])),
    String(data.trials[row]), data.ids[row]]);
  return [heads, ...lines].map((line) => line.map(safe).join(",")).join("\n") + "\n";
}

let offered = "";
function offer(taken) {
  const link = document.getElementById("download");
  link.onclick = () => {
    URL.revokeObjectURL(offered);
    link.href = offered = URL.createObjectURL(new Blob([table(taken)], { type: "text/csv" }));
  };
}

const simulated = data.quantity.values.map((name, place) => [name, place])
  .filter(([, place]) => rowsOf(place).some((row) => data.numbers.value[row] !== null));
take((simulated.find(([name]) => name.endsWith("_quantile")) || simulated.find(([name]) => name.endsWith("_mean")) || simulated[0] || ["", 0])[1]);
again();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
