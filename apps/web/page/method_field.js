// What is trained: a method of the core by its name, which sets what the question does not.
import { METHOD, RANK, takesImages } from "./controls.js";
import { labelled, slider } from "./fields.js";
import { element } from "./format.js";

const TRAINERS = [["", "In a loop of your own"], ["trl-", "By TRL's SFTTrainer"], ["transformers-", "By transformers' Trainer"]];
const PARTS = { full: "Full: every weight", lora: "LoRA", qlora: "QLoRA: LoRA over 4-bit weights", dora: "DoRA: LoRA with magnitudes", "freeze-vision": "All but the vision tower", projector: "The projector alone" };
export const NONE = "none";
const OF_IMAGES = new Set(["freeze-vision", "projector"]);

const trainerOf = (name) => TRAINERS.findLast(([prefix]) => name.startsWith(prefix))[0];
const partOf = (name) => name.slice(trainerOf(name).length);
const partLabel = (name) => PARTS[partOf(name)] ?? partOf(name).replaceAll("-", " ");

/// "LoRA", "LoRA, by TRL's SFTTrainer".
export function methodLabel(name) {
  const [prefix, title] = TRAINERS.find(([one]) => one === trainerOf(name));
  return prefix ? `${partLabel(name)}, ${title[0].toLowerCase()}${title.slice(1)}` : partLabel(name);
}

/// Those of one trainer that a model can be trained by.
export function methodsFor(core, config, current) {
  const trainer = trainerOf(current ?? NONE);
  return core.methods.map((one) => one.name).filter((name) => name !== NONE && trainerOf(name) === trainer && (takesImages(config) || !OF_IMAGES.has(name)));
}

/// `use` takes the keys of a spec with another method.
export function methodField(core, question, config, set, use) {
  const select = element("select");
  const options = (names) => names.map((name) => element("option", { value: name, textContent: partLabel(name), title: core.methods.find((one) => one.name === name).text }));
  const rank = slider({ label: RANK, low: 1, high: 256, step: 1 }, { minimum: 1, maximum: 65536 },
    () => question.spec.lora?.r ?? core.keysOfMethod(question.spec.method).lora?.r ?? core.spec_schema.properties.lora.anyOf[0].properties.r.default,
    (r) => set("lora", { ...question.spec.lora, r }));
  select.onchange = () => use(core.withMethod(question.spec, select.value));

  let isListOfImages = null;
  function list() {
    if (isListOfImages === takesImages(config())) return;
    isListOfImages = takesImages(config());
    const groups = TRAINERS.map(([prefix, label]) => element("optgroup", { label }, ...options(methodsFor(core, config(), prefix || NONE))));
    select.replaceChildren(element("option", { value: NONE, textContent: "as the options below say" }), ...groups);
  }
  return {
    box: element("div", {}, labelled(METHOD, select), rank.box),
    show() {
      list();
      select.value = question.spec.method ?? NONE;
      rank.box.hidden = !question.spec.lora && !core.keysOfMethod(question.spec.method).lora;
      rank.show();
    },
  };
}
