// Memory against a number of the question, with the card's line: each point is a prediction, made in a worker.
import { labelled, optionsOf } from "./fields.js";
import { exactly, element, size } from "./format.js";
import { makeGrowthPlot } from "./growth_plot.js";
import { AXES, isEnough, linesOf, valuesOf } from "./growth_points.js";

const STILL_MS = 300;  // before a question that has changed is drawn again
const at = (id) => document.getElementById(id);
const labels = Object.fromEntries(Object.entries(AXES).map(([key, { label }]) => [key, label]));

function select(label, names, first, take) {
  const made = element("select", {}, ...optionsOf(["", ...names], { ...labels, "": first }));
  made.onchange = () => take(made.value);
  return { made, box: labelled(label, made) };
}

/// What was drawn, for those who do not see it.
function tableOf(key, lines) {
  const head = element("tr", {}, ...[labels[key], ...lines.map((line) => line.label || "device"), ...(lines.length === 1 ? ["verdict"] : [])].map((textContent) => element("th", { scope: "col", textContent })));
  const told = (point) => (point.fits === true ? "fits" : point.fits === false ? "does not fit" : "may not fit");
  const cell = (point) => element("td", point ? { title: exactly(point.device_bytes) } : {}, point ? `${size(point.device_bytes)}${lines.length > 1 && point.fits !== true ? `, ${told(point)}` : ""}` : "");
  const values = [...new Set(lines.flatMap((line) => [...line.points.keys()]))].sort((a, b) => a - b);
  const rows = values.map((value) => element("tr", {}, element("th", { scope: "row", textContent: value.toLocaleString("en-US") }), ...lines.map((line) => cell(line.points.get(value))),
    ...(lines.length === 1 ? [element("td", { textContent: told(lines[0].points.get(value)) })] : [])));
  const wide = element("div", { className: "wide", tabIndex: 0, role: "region" }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)));
  wide.setAttribute("aria-label", "How it grows, as a table");
  return wide;
}

/// `spec` gives the training's keys; `question.growth` is what is drawn, null as long as nothing is.
export function makeGrowth({ core, background, question, spec, remember }) {
  const plot = makeGrowthPlot(at("growth-plot"), at("growth-legend"), at("growth-reading"));
  let last = "", count = 0, timer;
  const key = () => JSON.stringify([question.growth, spec(), question.margin]);

  const along = select("Memory against", Object.keys(AXES), "nothing", (name) => say(name ? { ...(question.growth?.lines && question.growth.lines !== name && { lines: question.growth.lines }), along: name } : null));
  const beside = select("A line each for half, as it is, and double of", Object.keys(AXES), "nothing", (name) => say({ along: question.growth.along, ...(name && { lines: name }) }));

  function say(growth) {
    question.growth = growth;
    remember();
    show();
    follow();
  }

  function show() {
    along.made.value = question.growth?.along ?? "";
    beside.box.hidden = !question.growth;
    beside.made.value = question.growth?.lines ?? "";
    for (const option of beside.made.options) option.disabled = option.value !== "" && option.value === question.growth?.along;
    if (!question.growth) at("growth-answer").hidden = true;
  }

  function draw(name, lines, isWhole) {
    at("growth-answer").hidden = !lines.some((line) => line.points.size > 0);
    if (at("growth-answer").hidden) return;
    plot.show(labels[name], lines);
    if (isWhole) at("growth-table").replaceChildren(tableOf(name, lines));
  }

  /// The points of one line until it is far above the card, or a value is refused.  False where a newer question came.
  async function fill(line, now, name, number, told) {
    for (const value of valuesOf(name)) {
      const text = await core.questionText({ ...now, ...line.keys, [name]: value }, question.margin ? { margin: question.margin } : {});
      const point = number === count ? await background.ask("point", text) : null;
      if (number !== count || point === null) return false;
      line.points.set(value, point);
      told();
      if (isEnough(point)) break;
    }
    return true;
  }

  async function ask() {
    const number = ++count;
    const { along: name, lines: other } = question.growth;
    const now = spec();
    const lines = linesOf(now, other).map((line) => ({ ...line, points: new Map() }));
    const refused = [];
    last = key();
    at("growth-status").textContent = "predicting …";
    for (const line of lines) {
      try {
        if (!(await fill(line, now, name, number, () => draw(name, lines, false)))) return;
      } catch (error) {
        if (number !== count) return;
        refused.push(core.words.line(error));
      }
    }
    draw(name, lines, true);
    at("growth-status").textContent = lines.every((line) => line.points.size === 0) ? refused[0] : "";
    document.body.dataset.grown = String(number);
  }

  function follow() {
    if (key() === last) return;
    count++;
    clearTimeout(timer);
    background.stop();
    at("growth-status").textContent = "";
    last = "";
    if (question.growth) timer = setTimeout(ask, STILL_MS);
  }

  const form = at("growth-question");
  form.onsubmit = (event) => event.preventDefault();
  form.replaceChildren(along.box, beside.box);
  show();
  return { show, follow };
}
