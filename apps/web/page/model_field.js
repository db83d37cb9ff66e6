// Which model: one of the list, one of the hub by name or address, or one's own config.json.
import { parseConfig } from "./config_text.js";
import { MODEL } from "./controls.js";
import { labelled } from "./fields.js";
import { element } from "./format.js";
import { findModel } from "./hub.js";
import { bundled, families } from "./models.js";

export const OWN = "own";
const OWN_LABEL = "your own config.json";

function configOf(text, name) {
  let config;
  try {
    config = parseConfig(text);
  } catch (error) {
    throw new Error(`${name} is not JSON: ${error.message}`);
  }
  if (config === null || typeof config !== "object" || Array.isArray(config)) throw new Error(`${name} is not a config.json: it holds no keys`);
  return config;
}

function listOf(models) {
  const options = (names) => names.map((name) => element("option", { value: name, textContent: name.split("/")[1], title: name }));
  const groups = families(models).map(([family, names]) => element("optgroup", { label: family }, ...options(names)));
  return element("select", {}, element("option", { value: "", disabled: true, hidden: true }), ...groups);
}

/// `ask` gets a name and its configuration; null for the configuration of a bundled model.
export function modelField(models, question, ask) {
  const list = listOf(models);
  const hub = element("input", { type: "text", placeholder: "Qwen/Qwen3-8B, or its address", spellcheck: false, autocomplete: "off" });
  const pasted = element("textarea", { rows: 4, spellcheck: false, placeholder: '{"model_type": "llama", …}' });
  const file = element("input", { type: "file", accept: ".json,application/json" });
  const refused = element("p", { className: "refusal", role: "alert" });
  let newest = 0;

  /// The newest attempt alone is taken.
  async function attempt(work) {
    const number = ++newest;
    refused.textContent = "";
    try {
      const [name, config] = await work();
      if (number === newest) ask(name, config);
    } catch (error) {
      if (number === newest) refused.textContent = error.message;
    }
  }

  const ofFile = (dropped) => attempt(async () => [OWN, configOf(await dropped.text(), dropped.name)]);

  list.onchange = () => attempt(async () => [list.value, null]);
  hub.onchange = () => hub.value.trim() && attempt(() => findModel(models, hub.value));
  pasted.onchange = () => pasted.value.trim() && attempt(async () => [OWN, configOf(pasted.value, "What was pasted")]);
  file.onchange = () => file.files[0] && ofFile(file.files[0]);
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files[0]) ofFile(event.dataTransfer.files[0]);
  });

  const own = element("details", {}, element("summary", { textContent: `or ${OWN_LABEL}` }), labelled("Its text", pasted), labelled("or its file, chosen or dropped", file));
  const box = element("div", {}, labelled(MODEL, list), labelled("or its name or address on the hub", hub), own, refused);
  return {
    box,
    show() {
      const { model, config } = question;
      list.options[0].textContent = model === OWN ? OWN_LABEL : `${model}, of the hub`;
      const isListed = !config && bundled(models, model);
      list.value = isListed ? model : "";
      if (document.activeElement !== hub) hub.value = isListed || model === OWN ? "" : model;
    },
  };
}
