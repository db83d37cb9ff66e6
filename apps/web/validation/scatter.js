// Predicted against measured memory, both in powers of two, and the line on which they are equal.
import uPlot from "uplot";
import { color, element, size } from "../page/format.js";

const HEIGHT = 480;
const PAINTS = { run: "accent", predict: "good" };

/// Whole powers of two around all that is drawn.
function rangeOf(points) {
  const all = points.flatMap((one) => [one.measured, one.predicted]);
  return [2 ** Math.floor(Math.log2(Math.min(...all))), 2 ** (Math.floor(Math.log2(Math.max(...all))) + 1)];
}

/// `engines`: of each its name, its kind ("run" or "predict"), and points {row, measured, predicted, error}.
export function showScatter(host, legend, reading, engines) {
  const points = engines.flatMap((engine, series) => engine.points.map((one) => ({ ...one, series, engine: engine.name }))).sort((a, b) => a.measured - b.measured);
  const range = rangeOf(points);
  let chart = null;

  function diagonal(plot) {
    const place = (bytes) => [plot.valToPos(bytes, "x", true), plot.valToPos(bytes, "y", true)];
    plot.ctx.save();
    plot.ctx.strokeStyle = color("soft");
    plot.ctx.lineWidth = devicePixelRatio;
    plot.ctx.beginPath();
    plot.ctx.moveTo(...place(range[0]));
    plot.ctx.lineTo(...place(range[1]));
    plot.ctx.stroke();
    plot.ctx.restore();
  }

  function read(index) {
    const one = points[index];
    reading.textContent = one ? `${one.row}: ${one.error}, ${size(one.measured)} measured, ${size(one.predicted)} predicted by ${one.engine}` : "";
  }

  function options(width) {
    const axis = { stroke: () => color("soft"), grid: { stroke: () => color("line"), width: 1 }, ticks: { stroke: () => color("line"), width: 1 }, values: (_, values) => values.map((bytes) => (bytes === null ? null : size(bytes))) };
    const scale = { distr: 3, log: 2, range: () => range };
    const dots = engines.map(({ kind }) => ({ paths: () => null, points: { show: true, size: 7, width: 0, fill: () => color(PAINTS[kind]), stroke: () => color(PAINTS[kind]) } }));
    return {
      width, height: HEIGHT, legend: { show: false }, cursor: { drag: { x: false, y: false }, points: { show: false } }, scales: { x: { time: false, ...scale }, y: scale },
      axes: [{ ...axis, label: "measured", space: 80 }, { ...axis, label: "predicted", size: 74 }], series: [{}, ...dots],
      hooks: { drawAxes: [diagonal], setCursor: [(plot) => read(plot.cursor.idx)] },
    };
  }

  const data = [points.map((one) => one.measured), ...engines.map((_, series) => points.map((one) => (one.series === series ? one.predicted : null)))];
  function draw() {
    const width = Math.max(200, Math.floor(host.clientWidth));
    if (!chart) chart = new uPlot(options(width), data, host);
    else if (chart.width !== width) chart.setSize({ width, height: HEIGHT });
  }

  host.setAttribute("role", "img");
  host.setAttribute("aria-label", `Predicted against measured memory of ${points.length} rows; the tables have the same`);
  legend.replaceChildren(...engines.map(({ name, kind }) => element("li", {}, element("span", { className: `swatch by-${kind}` }), name)));
  new ResizeObserver(draw).observe(host);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => chart?.redraw());
}
