// The controls.  The usual ones are listed here; all others are made of the spec's schema.
import { labelled, optionsOf } from "./fields.js";
import { element } from "./format.js";
import { FIRST_LORA, firstSpec } from "./question.js";

const SLIDERS = [
  { key: "batch", label: "Batch, of each GPU", low: 1, high: 128, step: 1 },
  { key: "seq", label: "Sequence, in tokens (0: 2048, or what the model takes)", low: 0, high: 32768, step: 128 },
  { key: "images", label: "Images per sample", low: 0, high: 16, step: 1 },
  { key: "gpus", label: "GPUs", low: 1, high: 64, step: 1 },
];
const CHOICES = [
  { key: "checkpointing", label: "Gradient checkpointing" },
  { key: "dtype", label: "Type of the weights" },
  { key: "autocast", label: "Autocast" },
  { key: "optimizer", label: "Optimizer" },
  { key: "loop", label: "Training loop" },
];
const MARGINS = ["p50", "p75", "p90", "p95", "p99"];
// Ways to share the work that are maps of their own, with a degree: all GPUs.
const BY_DEGREE = { tp: "tensor parallel", cp: "context parallel", pp: "pipeline" };
const SHOWN_ABOVE = new Set(["model", "gpu", "parallel", "lora", ...SLIDERS.map((one) => one.key), ...CHOICES.map((one) => one.key)]);

/// A slider, and the number beside it, which may be larger than the slider goes.
function slider({ label, low, high, step }, schema, get, set) {
  const id = `slider-${label.split(/[ ,]/)[0].toLowerCase()}`;
  const range = element("input", { type: "range", id, min: low, max: high, step });
  const number = element("input", { type: "number", min: schema.minimum ?? low, max: schema.maximum ?? high, step: 1 });
  number.setAttribute("aria-label", `${label}: number`);
  const say = (input) => input.value !== "" && set(Number(input.value));
  range.oninput = () => say(range);
  number.oninput = () => say(number);
  const show = () => {
    range.value = get();
    if (document.activeElement !== number) number.value = get();
  };
  const box = element("div", { className: "field slider" }, element("label", { htmlFor: id, textContent: label }), range, number);
  return { box, show };
}

function typeOf(schema) {
  const alone = schema.anyOf ? schema.anyOf.find((one) => one.type !== "null") : schema;
  return { ...alone, description: schema.description, default: schema.default };
}

/// The control of a field by its schema; `get` gives undefined where nothing is said.
function fieldOf(key, whole, get, set) {
  const schema = typeOf(whole);
  const label = key.replaceAll("_", " ");
  let input;
  if (schema.properties) return fieldsetOf(label, schema, get, set);
  if (schema.enum) {
    input = element("select", {}, ...optionsOf(schema.enum.filter((name) => typeof name === "string")));
    input.onchange = () => set(input.value === schema.default ? undefined : input.value);
  } else if (schema.type === "boolean") {
    input = element("input", { type: "checkbox" });
    input.onchange = () => set(input.checked === schema.default ? undefined : input.checked);
  } else if (schema.type === "integer" || schema.type === "number") {
    input = element("input", { type: "number", min: schema.minimum ?? "", max: schema.maximum ?? "", step: schema.type === "integer" ? 1 : "any", placeholder: schema.default ?? "" });
    input.oninput = () => set(input.value === "" ? undefined : Number(input.value));
  } else {
    const isList = schema.type === "array";
    input = element("input", { type: "text", placeholder: isList ? "a,b" : schema.default ?? "" });
    input.onchange = () => set(input.value === "" ? undefined : isList ? input.value.split(",") : input.value);
  }
  const show = () => {
    const value = get() ?? (input.type === "text" || input.type === "number" ? "" : schema.default);
    if (input.type === "checkbox") input.checked = value;
    else if (document.activeElement !== input) input.value = value;
  };
  return { box: labelled(label, input, schema.description), show };
}

function fieldsetOf(label, schema, get, set) {
  const parts = Object.entries(schema.properties).map(([key, inner]) =>
    fieldOf(key, inner, () => get()?.[key], (value) => {
      const all = { ...get(), [key]: value };
      if (value === undefined) delete all[key];
      set(Object.keys(all).length > 0 ? all : undefined);
    }));
  const box = element("fieldset", {}, element("legend", { textContent: label }), ...parts.map((part) => part.box));
  return { box, show: () => parts.forEach((part) => part.show()) };
}

/// Where the question's own value of a key is.
function place(question, schema, key, changed) {
  return [
    () => question.spec[key] ?? schema.properties[key].default,
    (value) => {
      if (value === undefined) delete question.spec[key];
      else question.spec[key] = value;
      changed();
    },
  ];
}

function modelField(models, question, ask) {
  const select = element("select", {}, element("option", { value: "own", textContent: "your own config.json", disabled: true }), ...models.map(({ name }) => element("option", { value: name, textContent: name })));
  const file = element("input", { type: "file", accept: ".json,application/json" });
  const refused = element("p", { className: "soft", role: "alert" });
  const take = async (dropped) => {
    try {
      const config = JSON.parse(await dropped.text());
      refused.textContent = "";
      ask("own", config);
    } catch (error) {
      refused.textContent = `${dropped.name} is not JSON: ${error.message}`;
    }
  };
  select.onchange = () => ask(select.value, null);
  file.onchange = () => file.files[0] && take(file.files[0]);
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
  });
  const box = element("div", {}, labelled("Model", select), labelled("or your own config.json, chosen or dropped", file), refused);
  return { box, show: () => (select.value = question.model) };
}

function methodField(question, set) {
  const select = element("select", {}, ...optionsOf(["full", "lora"], { full: "all that is not frozen", lora: "LoRA" }));
  const rank = slider({ label: "Rank of LoRA", low: 1, high: 256, step: 1 }, { minimum: 1, maximum: 65536 }, () => question.spec.lora?.r ?? 8, (r) => set("lora", { ...question.spec.lora, r }));
  select.onchange = () => set("lora", select.value === "lora" ? FIRST_LORA : undefined);
  const show = () => {
    select.value = question.spec.lora ? "lora" : "full";
    rank.box.hidden = !question.spec.lora;
    rank.show();
  };
  return { box: element("div", {}, labelled("What is trained", select), rank.box), show };
}

function marginField(question, told) {
  const select = element("select", {}, ...optionsOf(["", ...MARGINS], { "": "nothing" }));
  select.onchange = () => {
    question.margin = select.value || null;
    told();
  };
  const show = () => {
    const said = question.margin ?? "";
    if (![...select.options].some((one) => one.value === said)) select.append(...optionsOf([said]));
    select.value = said;
  };
  return { box: labelled("Kept free: how far measured peaks were above predicted ones", select), show };
}

function strategyField(schema, question, set) {
  const names = schema.properties.parallel.enum.filter((name) => typeof name === "string");
  const select = element("select", {}, ...optionsOf([...names, ...Object.keys(BY_DEGREE)], { none: "each for itself", ...BY_DEGREE }));
  const say = (chosen) => {
    for (const key of [...names, ...Object.keys(BY_DEGREE), "zero", "parallel"]) if (key !== "none") delete question.spec[key];
    if (chosen in BY_DEGREE) question.spec[chosen] = { degree: question.spec.gpus ?? 1 };
    else if (chosen !== "none") question.spec.parallel = chosen;
  };
  select.onchange = () => {
    if ((question.spec.gpus ?? 1) === 1 && select.value !== "none") question.spec.gpus = 8;
    say(select.value);
    set("gpus", question.spec.gpus);
  };
  const current = () => Object.keys(BY_DEGREE).find((key) => question.spec[key]) ?? question.spec.parallel ?? "none";
  /// Several GPUs share the work in some way, and one does not.
  const follow = (gpus) => {
    if (gpus === 1) say("none");
    else if (current() === "none") say("ddp");
    else if (current() in BY_DEGREE) say(current());
  };
  return { box: labelled("How GPUs share the work", select), show: () => (select.value = current()), follow };
}

function allOthers(schema, question, changed) {
  const parts = Object.entries(schema.properties).filter(([key]) => !SHOWN_ABOVE.has(key))
    .map(([key, one]) => fieldOf(key, one, () => question.spec[key], place(question, schema, key, changed)[1]));
  const box = element("details", {}, element("summary", { textContent: "All other options" }), ...parts.map((part) => part.box));
  return { box, show: () => parts.forEach((part) => part.show()) };
}

/// Fills `host`; `changed` is called when the question has been.
export function makeForm(host, core, models, question, changed) {
  const schema = core.spec_schema;
  const parts = [];
  const show = () => parts.forEach((part) => part.show());
  const told = () => {
    show();
    changed();
  };
  const set = (key, value) => place(question, schema, key, told)[1](value);
  const strategy = strategyField(schema, question, set);

  parts.push(modelField(models, question, (model, config) => {
    const gpu = question.spec.gpu;
    Object.assign(question, { model, config, spec: firstSpec(config ?? models.find((one) => one.name === model).config, gpu) });
    told();
  }));
  const cards = element("select", {}, ...core.cards.map((card) => element("option", { value: card.key, textContent: `${card.name} (${card.key})` })));
  cards.onchange = () => set("gpu", cards.value);
  parts.push({ box: labelled("Card", cards), show: () => (cards.value = question.spec.gpu) }, marginField(question, told), methodField(question, set));
  for (const one of SLIDERS) {
    const [get] = place(question, schema, one.key, told);
    parts.push(slider(one, schema.properties[one.key], get, (value) => {
      question.spec[one.key] = value;
      if (one.key === "gpus") strategy.follow(value);
      told();
    }));
  }
  parts.push(strategy);
  for (const { key, label } of CHOICES) {
    const { box, show: showOne } = fieldOf(key, schema.properties[key], () => question.spec[key], (value) => set(key, value));
    box.firstChild.textContent = label;
    parts.push({ box, show: showOne });
  }
  parts.push(allOthers(schema, question, told));
  host.onsubmit = (event) => event.preventDefault();
  host.replaceChildren(...parts.map((part) => part.box));
  show();
  return { show };
}
