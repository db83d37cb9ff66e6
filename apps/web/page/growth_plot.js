// The curves of growth.js: what the device holds against a number, and the card's line across.
import uPlot from "uplot";
import { color, element, size } from "./format.js";

const HEIGHT = 300;
const PAINTS = [{ paint: "accent", dash: [] }, { paint: "gradients", dash: [10, 4] }, { paint: "optimizer_state", dash: [3, 3] }];

export function makeGrowthPlot(host, legend, reading) {
  let shown = null;
  let chart = null;

  function options(width) {
    const axis = { stroke: () => color("soft"), grid: { stroke: () => color("line"), width: 1 }, ticks: { stroke: () => color("line"), width: 1 } };
    const curves = shown.lines.map((_, i) => ({ stroke: () => color(PAINTS[i].paint), dash: PAINTS[i].dash, width: 2, spanGaps: true, points: { show: true, size: 6, fill: () => color(PAINTS[i].paint) } }));
    return {
      width, height: HEIGHT, legend: { show: false }, cursor: { drag: { x: true, y: false }, points: { show: false } },
      scales: { x: { time: false }, y: { range: (_, low, high) => [0, Math.max(high, 1) * 1.03] } },
      axes: [{ ...axis, values: (_, values) => values.map((value) => value.toLocaleString("en-US")), space: 70 }, { ...axis, size: 74, values: (_, values) => values.map(size), incrs: Array.from({ length: 50 }, (_, power) => 2 ** power) }],
      series: [{}, ...curves, { points: { show: false }, stroke: () => color("bad"), width: 2, dash: [6, 4] }],
      hooks: { setCursor: [(plot) => read(plot.cursor.idx)] },
    };
  }

  const told = ({ label, points }, value) => `${label ? `${label}: ` : ""}${size(points.get(value).device_bytes)}`;

  function read(index) {
    const value = shown.values[index];
    const lines = shown.lines.filter((line) => line.points.has(value));
    reading.textContent = lines.length === 0 ? "" : `${shown.name} ${value.toLocaleString("en-US")}: ${lines.map((line) => told(line, value)).join(", ")}, of ${size(shown.card)}`;
  }

  const data = () => [shown.values, ...shown.lines.map((line) => shown.values.map((value) => line.points.get(value)?.device_bytes ?? null)), shown.values.map(() => shown.card)];

  function draw() {
    const width = Math.max(200, Math.floor(host.clientWidth));
    if (chart && chart.series.length !== shown.lines.length + 2) {
      chart.destroy();
      chart = null;
    }
    if (!chart) chart = new uPlot(options(width), data(), host);
    else chart.setData(data());
    if (chart.width !== width) chart.setSize({ width, height: HEIGHT });
  }

  function showLegend() {
    const curves = shown.lines.map((line, i) => element("li", {}, element("span", { className: `swatch line${i}` }), line.label || "what the device holds"));
    legend.replaceChildren(...curves, element("li", {}, element("span", { className: "swatch limit" }), "the card's memory"));
  }

  new ResizeObserver(() => shown && host.clientWidth > 0 && draw()).observe(host);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => chart?.redraw());
  host.setAttribute("role", "img");

  return {
    /// `lines`: of each its label and its points, {device_bytes, card_bytes} by value.
    show(name, lines) {
      const values = [...new Set(lines.flatMap((line) => [...line.points.keys()]))].sort((a, b) => a - b);
      const card = lines.flatMap((line) => [...line.points.values()])[0].card_bytes;
      shown = { name, lines, values, card };
      const ends = lines.filter((line) => line.points.size > 0).map((line) => `${told(line, Math.min(...line.points.keys()))} to ${size(Math.max(...[...line.points.values()].map((one) => one.device_bytes)))}`);
      host.setAttribute("aria-label", `Memory against ${name}, from ${values[0].toLocaleString("en-US")} to ${values.at(-1).toLocaleString("en-US")}: ${ends.join("; ")}; the card has ${size(card)}; the table has the same`);
      showLegend();
      draw();
    },
  };
}
