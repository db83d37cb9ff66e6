// Memory over time: what is allocated, by category, on top of each other; what is reserved; the card's line.
import uPlot from "uplot";
import { highestPaths } from "./columns.js";
import { color, element, size } from "./format.js";

const HEIGHT = 320;

/// What the allocator could hold on the card, with what the device holds besides.
function limitOf(report) {
  return report.card.total_bytes - report.device.reduce((sum, item) => sum + item.typical_bytes, 0);
}

/// Whether that is drawn: far above all else it would press everything flat.
const isNear = (report) => limitOf(report) > 0 && limitOf(report) < 2.5 * report.peak.reserved_bytes;

/// What is live at each point, one list for each name; of a report that does not tell categories, what is allocated.
export function categoriesOf(report, names) {
  const known = new Map((report.timeline_by_category ?? [{ name: "allocated", bytes: report.timeline.map((point) => point.allocated_bytes) }]).map((one) => [one.name, one.bytes]));
  return names.map((name) => known.get(name) ?? new Float64Array(report.timeline.length));
}

/// List i of the result is the sum of the lists up to i.
function stacked(lists) {
  const sums = [];
  for (const list of lists) {
    const below = sums.at(-1);
    sums.push(below ? below.map((bytes, point) => bytes + list[point]) : Float64Array.from(list));
  }
  return sums;
}

/// At which event each step begins, for the ticks: as many as there is room for.
function beginnings(timeline) {
  const first = timeline.filter((point, i) => point.step > 0 && point.step !== timeline[i - 1]?.step);
  const stride = Math.ceil(first.length / 8);
  return new Map(first.filter((_, i) => i % stride === 0).map((point) => [point.event, point.step]));
}

export function makeTimeline(host, legend, reading, names) {
  let shown = null;
  let steps = new Map();
  let chart = null;

  function options(width) {
    const lines = { points: { show: false }, paths: highestPaths };
    const axis = { stroke: () => color("soft"), grid: { stroke: () => color("line"), width: 1 }, ticks: { stroke: () => color("line"), width: 1 } };
    const areas = names.map((name) => ({ ...lines, label: name, width: 0, fill: () => color(name) })).reverse();
    return {
      width, height: HEIGHT, legend: { show: false }, cursor: { drag: { x: true, y: false }, points: { show: false } },
      scales: { x: { time: false }, y: { range: (_, low, high) => [0, Math.max(high, 1) * 1.03] } },
      axes: [
        { ...axis, splits: (_, __, low, high) => [...steps.keys()].filter((event) => event >= low && event <= high), values: (_, splits) => splits.map((event) => `step ${steps.get(event)}`) },
        { ...axis, size: 74, values: (_, values) => values.map(size), incrs: Array.from({ length: 50 }, (_, power) => 2 ** power) },
      ],
      series: [{}, { ...lines, label: "reserved", stroke: () => color("ink"), width: 1 }, ...areas, { label: "limit", points: { show: false }, stroke: () => color("bad"), width: 2, dash: [6, 4] }],
      hooks: { setCursor: [(plot) => read(plot.cursor.idx)] },
    };
  }

  function read(index) {
    const point = shown?.report.timeline[index];
    reading.textContent = !point ? "" : `step ${point.step}, ${point.phase}: ${size(point.allocated_bytes)} allocated (${names
      .map((name, i) => [name, shown.categories[i][index]]).filter(([, bytes]) => bytes > 0).map(([name, bytes]) => `${name.replace("_", " ")} ${size(bytes)}`).join(", ")}), ${size(point.reserved_bytes)} reserved`;
  }

  function data() {
    const { report, categories } = shown;
    const limit = isNear(report) ? limitOf(report) : null;
    const rows = stacked(categories).reverse();
    return [report.timeline.map((point) => point.event), report.timeline.map((point) => point.reserved_bytes), ...rows, report.timeline.map(() => limit)];
  }

  function showLegend() {
    const used = names.filter((_, i) => shown.categories[i].some((bytes) => bytes > 0));
    const swatch = (name) => element("span", { className: `swatch ${name}` });
    legend.replaceChildren(...[...used, "reserved", ...(isNear(shown.report) ? ["limit"] : [])].map((name) => element("li", {}, swatch(name), name === "limit" ? "the card's limit" : name.replace("_", " "))));
  }

  function draw() {
    const width = Math.max(200, Math.floor(host.clientWidth));
    if (!chart) chart = new uPlot(options(width), data(), host);
    else chart.setData(data());
    if (chart.width !== width) chart.setSize({ width, height: HEIGHT });
  }

  new ResizeObserver(() => shown && draw()).observe(host);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => chart?.redraw());
  host.setAttribute("role", "img");

  return {
    show(report) {
      shown = { report, categories: categoriesOf(report, names) };
      steps = beginnings(report.timeline);
      host.setAttribute("aria-label", `Memory over ${report.steps.length} steps: at most ${size(report.peak.allocated_bytes)} allocated and ${size(report.peak.reserved_bytes)} reserved, of ${size(limitOf(report))} that the card leaves`);
      showLegend();
      draw();
    },
  };
}
