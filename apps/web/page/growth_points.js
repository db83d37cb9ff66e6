// How memory grows with a number of the question: which values are asked, and what is kept of each answer.

const DOUBLINGS = 17;
const MOST_MEMORY = "16TiB";  // the largest card that is simulated (memory/driver_memory.h)

/// The numbers that memory can be drawn against.
export const AXES = {
  batch: { label: "the batch", least: 1, usual: 1 },
  seq: { label: "the sequence", least: 128, usual: 2048 },
  images: { label: "the images of a sample", least: 1, usual: 1 },
};

/// Half, as it is, and double of a second number: a line each.
export function linesOf(spec, key) {
  if (!key) return [{ label: "", keys: {} }];
  const now = spec[key] || AXES[key].usual;
  return [...new Set([Math.max(1, Math.floor(now / 2)), now, 2 * now])].map((value) => ({ label: `${AXES[key].label} ${value.toLocaleString("en-US")}`, keys: { [key]: value } }));
}

/// Doubling, with one between.
export function* valuesOf(key) {
  for (let value = AXES[key].least, i = 0; i < DOUBLINGS; i++, value *= 2) {
    yield value;
    if (value > 1) yield 1.5 * value;
  }
}

/// A line goes on until its training needs twice what the card has.
export const isEnough = (point) => point.device_bytes > 2 * point.card_bytes;

/// {device_bytes, card_bytes, fits} of a question, a text; what does not fit is predicted on a card of more memory.
export function pointOf(predict, question) {
  const report = predict(question);
  const { total_bytes: card_bytes } = report.card;
  if (!report.oom) return { device_bytes: report.peak.device_bytes, card_bytes, fits: report.fits };
  const asked = JSON.parse(question);
  const { peak } = predict(JSON.stringify({ ...asked, margin: undefined, spec: { ...asked.spec, memory: MOST_MEMORY } }));
  return { device_bytes: peak.device_bytes, card_bytes, fits: false };
}
