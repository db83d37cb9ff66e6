// Memory against time: what is advised, what would be better and does not fit, and the card's line between them.
import uPlot from "uplot";
import { color, duration, element, size } from "./format.js";
import { pointsOf } from "./plan_points.js";

const HEIGHT = 300;
const KINDS = { fits: { label: "fits", paint: "good" }, refused: { label: "does not fit", paint: "bad" }, least: { label: "the least that would do", paint: "accent" } };

function bandOf(plot, { bytes, low, high }) {
  const x = plot.valToPos(bytes, "x", true);
  plot.ctx.moveTo(x, plot.valToPos(low, "y", true));
  plot.ctx.lineTo(x, plot.valToPos(high, "y", true));
}

export function makePareto(host, legend, reading) {
  let shown = null;
  let chart = null;

  function besides(plot) {
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.strokeStyle = color("soft");
    ctx.lineWidth = devicePixelRatio;
    ctx.beginPath();
    shown.points.forEach((point) => bandOf(plot, point));
    ctx.stroke();
    const limit = plot.valToPos(shown.limit, "x", true);
    if (limit <= bbox.left + bbox.width) {
      ctx.strokeStyle = color("bad");
      ctx.lineWidth = 2 * devicePixelRatio;
      ctx.setLineDash([6 * devicePixelRatio, 4 * devicePixelRatio]);
      ctx.beginPath();
      ctx.moveTo(limit, bbox.top);
      ctx.lineTo(limit, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  }

  function options(width) {
    const axis = { stroke: () => color("soft"), grid: { stroke: () => color("line"), width: 1 }, ticks: { stroke: () => color("line"), width: 1 } };
    const dots = Object.values(KINDS).map(({ label, paint }) => ({ label, paths: () => null, points: { show: true, size: 10, width: 0, fill: () => color(paint), stroke: () => color(paint) } }));
    return {
      width, height: HEIGHT, legend: { show: false }, cursor: { drag: { x: false, y: false }, y: false, points: { show: false } },
      scales: { x: { time: false, range: () => shown.range }, y: { range: () => [0, Math.max(...shown.points.map((point) => Math.max(point.high, point.seconds))) * 1.08] } },
      axes: [{ ...axis, values: (_, values) => values.map(size), incrs: Array.from({ length: 50 }, (_, power) => 2 ** power), space: 90 }, { ...axis, size: 74, values: (_, values) => values.map((seconds) => (seconds > 0 ? duration(seconds) : "0 s")) }],
      series: [{}, ...dots],
      hooks: { draw: [besides], setCursor: [(plot) => read(plot.cursor.idx)] },
    };
  }

  function read(index) {
    const point = shown.points[index];
    reading.textContent = point ? `${size(point.bytes)} on the device, ${duration(point.seconds)} a step (${duration(point.low)} to ${duration(point.high)}), ${KINDS[point.kind].label}: ${shown.nameOf(point.one)}` : "";
  }

  const data = () => [shown.points.map((point) => point.bytes), ...Object.keys(KINDS).map((kind) => shown.points.map((point) => (point.kind === kind ? point.seconds : null)))];

  function draw() {
    const width = Math.max(200, Math.floor(host.clientWidth));
    if (!chart) chart = new uPlot(options(width), data(), host);
    else chart.setData(data());
    if (chart.width !== width) chart.setSize({ width, height: HEIGHT });
  }

  function showLegend() {
    const kinds = Object.entries(KINDS).filter(([kind]) => shown.points.some((point) => point.kind === kind));
    legend.replaceChildren(...kinds.map(([kind, { label }]) => element("li", {}, element("span", { className: `swatch ${kind}` }), label)), element("li", {}, element("span", { className: "swatch limit" }), "the card's memory"));
  }

  new ResizeObserver(() => shown?.points.length && draw()).observe(host);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => chart?.redraw());
  host.setAttribute("role", "img");

  return {
    /// `limit`: the card's bytes; `nameOf` an answer: what it changes.
    show(plan, limit, nameOf) {
      const points = pointsOf(plan);
      const most = Math.max(limit, ...points.map((point) => point.bytes));
      shown = { points, limit, nameOf, range: [0, most * 1.05] };
      reading.textContent = "";
      host.hidden = legend.hidden = points.length === 0;
      if (points.length === 0) return;
      host.setAttribute("aria-label", `Memory against time: ${plan.answers.length} that fit, ${plan.refused.length} that would be better and do not, on a card of ${size(limit)}; the tables have the same`);
      showLegend();
      draw();
    },
  };
}
