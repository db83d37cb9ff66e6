// Lines of many points in few columns of pixels: each column shows the highest value in it, so that no peak is lost.

/// Of values that hold until the next x, the highest in each of `count` columns between `low` and `high`; NaN before the first.
export function highestInColumns(xs, ys, low, high, count) {
  const highest = new Float64Array(count).fill(Number.NaN);
  const column = (x) => ((x - low) / (high - low || 1)) * count;
  for (let i = 0; i < xs.length; i++) {
    const begin = Math.min(Math.floor(column(xs[i])), count - 1);
    const end = i + 1 < xs.length ? Math.max(begin, Math.ceil(column(xs[i + 1])) - 1) : begin;
    for (let at = Math.max(begin, 0); at <= Math.min(end, count - 1); at++) if (!(highest[at] >= ys[i])) highest[at] = ys[i];
  }
  return highest;
}

/// uPlot's paths of such a line, and of the area under it; a column is a pixel of the page.
export function highestPaths(plot, series) {
  const { left, top, width, height } = plot.bbox;
  const { min, max } = plot.scales.x;
  const count = Math.max(1, Math.round(width / devicePixelRatio));
  const stroke = new Path2D();
  let first = null;
  highestInColumns(plot.data[0], plot.data[series], min, max, count).forEach((value, at) => {
    if (Number.isNaN(value)) return;
    const [from, to] = [at, at + 1].map((one) => left + (one * width) / count);
    const y = Math.round(plot.valToPos(value, "y", true));
    if (first === null) stroke.moveTo((first = from), y);
    else stroke.lineTo(from, y);
    stroke.lineTo(to, y);
  });
  const fill = new Path2D(stroke);
  fill.lineTo(left + width, top + height);
  fill.lineTo(first ?? left, top + height);
  fill.closePath();
  return { stroke, fill, clip: null, band: null, gaps: null, flags: 1 };
}
