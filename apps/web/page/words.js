// What the core says, with the labels of the page where it names keys of a spec, or options of the command.
import { CARD, CHOICES, IMAGE_SIZE, MARGIN, METHOD, MODEL, RANK, SLIDERS, STRATEGY } from "./controls.js";

const FIELDS = { model: MODEL, gpu: CARD, method: METHOD, "lora.r": RANK, parallel: STRATEGY, margin: MARGIN };
for (const { key, label } of [...SLIDERS, IMAGE_SIZE, ...CHOICES]) FIELDS[key] = label;

/// "Sequence" of "Sequence, in tokens (0: 2048)".
const short = (label) => label.split(/[,(:]/)[0].trim();
const spaced = (key) => key.replaceAll("_", " ");

/// Keys that are words of the language too, so that they are replaced where they stand as an option alone.
const isWord = (path) => !/[._]/.test(path) && path !== "seq";

function paths(schema, before = "") {
  return Object.entries(schema.properties ?? {}).flatMap(([key, one]) => {
    const inner = one.anyOf?.find((each) => each.properties) ?? one;
    return [before + key, ...paths(inner, `${before}${key}.`)];
  });
}

export function makeWords(schema) {
  const labels = new Map(paths(schema).map((path) => [path, FIELDS[path] ? short(FIELDS[path]) : path.split(".").map(spaced).join(": ")]));
  for (const [path, label] of Object.entries(FIELDS)) if (!labels.has(path)) labels.set(path, short(label));
  const options = new Map([...labels].map(([path, label]) => [path.replaceAll(/[._]/g, "-"), label]));
  const quoted = (label) => `“${label}”`;

  const label = (path) => labels.get(path) ?? path;
  const text = (told) => told
    .replace(/--([a-z][a-z0-9-]*)/g, (whole, name) => (options.has(name) ? quoted(options.get(name)) : whole))
    .replace(/\b[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)*\b/g, (path) => (labels.has(path) && !isWord(path) ? quoted(labels.get(path)) : path));

  return {
    label,
    text,
    /// {message, hint} of what was thrown.
    error(error) {
      const { message, where, hint } = error.told ?? error;
      const place = where && (labels.get(where) ?? (options.get(where.replace(/^--/, "")) || where));
      return { message: place ? `${place}: ${text(message)}` : text(message), hint: hint ? text(hint) : "" };
    },
    /// The same in a line.
    line(error) {
      const { message, hint } = this.error(error);
      return hint ? `${message}: ${hint}` : message;
    },
    /// Keys of a spec that change: "Gradient checkpointing non reentrant, Batch 2".
    change(keys, before = "") {
      return Object.entries(keys).map(([key, value]) => {
        const path = before + key;
        if (value && typeof value === "object" && !Array.isArray(value)) return Object.keys(value).length > 0 ? this.change(value, `${path}.`) : label(path);
        return `${label(path)} ${typeof value === "string" ? spaced(value) : JSON.stringify(value)}`;
      }).join(", ");
    },
  };
}
