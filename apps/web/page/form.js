// The controls.  The usual ones are listed in controls.js; all others are made of the spec's schema.
import { CARD, CHOICES, IMAGE_SIZE, MARGIN, SLIDERS, STRATEGY, takesImages } from "./controls.js";
import { fieldOf, labelled, optionsOf, slider } from "./fields.js";
import { element } from "./format.js";
import { methodField } from "./method_field.js";
import { modelField } from "./model_field.js";
import { configOf, firstSpec } from "./question.js";

const MARGINS = { "": "nothing", p50: "half of them", p75: "3 of 4", p90: "9 of 10", p95: "19 of 20", p99: "99 of 100" };
// Ways to share the work that are maps, with a degree: all GPUs.
const BY_DEGREE = { tp: "tensor parallel", cp: "context parallel", pp: "pipeline" };
const SHOWN_ABOVE = new Set(["model", "generation_config", "gpu", "method", "parallel", IMAGE_SIZE.key, ...SLIDERS.map((one) => one.key), ...CHOICES.map((one) => one.key)]);

function marginField(question, told) {
  const select = element("select", {}, ...optionsOf(Object.keys(MARGINS), MARGINS));
  select.onchange = () => {
    question.margin = select.value || null;
    told();
  };
  const show = () => {
    const said = question.margin ?? "";
    if (![...select.options].some((one) => one.value === said)) select.append(...optionsOf([said]));
    select.value = said;
  };
  return { box: labelled(MARGIN, select), show };
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
  const box = labelled(STRATEGY, select);
  const show = () => {
    select.value = current();
    box.hidden = (question.spec.gpus ?? 1) === 1 && current() === "none";
  };
  return { box, show, follow };
}

/// Fills `host`; `changed` is called when the question has been.
export function makeForm(host, core, models, question, changed) {
  const schema = core.spec_schema;
  const config = () => configOf(question, models);
  const usual = (key) => core.keysOfMethod(question.spec.method)[key];
  const show = () => parts.forEach((part) => part.show());
  const told = () => {
    show();
    changed();
  };
  const set = (key, value) => {
    if (value === undefined) delete question.spec[key];
    else question.spec[key] = value;
    told();
  };
  const use = (keys) => {
    question.spec = keys;
    told();
  };
  const field = (key, label) => fieldOf(label, schema.properties[key], () => question.spec[key], (value) => set(key, value), () => usual(key));
  const ofImages = (part, key) => ({
    box: part.box,
    show() {
      part.box.hidden = !takesImages(config()) && !question.spec[key];
      part.show();
    },
  });

  const strategy = strategyField(schema, question, set);
  const cards = element("select", {}, ...core.cards.map((card) => element("option", { value: card.key, textContent: `${card.name} (${card.key})` })));
  cards.onchange = () => set("gpu", cards.value);
  const sliders = SLIDERS.map((one) => {
    const made = slider(one, schema.properties[one.key], () => question.spec[one.key] ?? schema.properties[one.key].default, (value) => {
      question.spec[one.key] = value;
      if (one.key === "gpus") strategy.follow(value);
      told();
    });
    return one.isOfImages ? ofImages(made, one.key) : made;
  });
  const imageSize = ofImages(field(IMAGE_SIZE.key, IMAGE_SIZE.label), IMAGE_SIZE.key);
  const others = Object.keys(schema.properties).filter((key) => !SHOWN_ABOVE.has(key)).map((key) => field(key, key.replaceAll("_", " ")));
  const parts = [
    modelField(models, question, (model, given) => {
      const { gpu } = question.spec;
      Object.assign(question, { model, config: given });
      use(firstSpec(config(), gpu));
    }),
    { box: labelled(CARD, cards), show: () => (cards.value = question.spec.gpu) },
    methodField(core, question, config, set, use),
    ...sliders.slice(0, -1), imageSize, sliders.at(-1), strategy,
    ...CHOICES.map(({ key, label }) => field(key, label)),
    marginField(question, told),
  ];
  const more = element("details", {}, element("summary", { textContent: "All other options" }), ...others.map((part) => part.box));
  host.onsubmit = (event) => event.preventDefault();
  host.replaceChildren(...parts.map((part) => part.box), more);
  parts.push(...others);
  show();
  return { show };
}
