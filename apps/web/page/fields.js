// What the forms are made of.
import { element } from "./format.js";

export function labelled(label, control, help) {
  const made = element("label", { className: "field" }, element("span", { textContent: label }), control);
  if (help) made.title = help;
  return made;
}

export const optionsOf = (names, labels = {}) => names.map((name) => element("option", { value: name, textContent: labels[name] ?? String(name).replaceAll("_", " ") }));

/// A slider, and the number beside it, which may be larger than the slider goes.
export function slider({ label, low, high, step }, schema, get, set) {
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
  return { ...alone, description: schema.description, default: schema.default, isOptional: Boolean(schema.anyOf) };
}

/// A name, or a list of names with commas between; of a field for lists alone always a list.
function textField(schema, set) {
  const types = [schema.type].flat();
  const isList = types.includes("array");
  const input = element("input", { type: "text", placeholder: isList ? "a,b" : "" });
  const read = (text) => (isList && (types.length === 1 || text.includes(",")) ? text.split(",") : text);
  input.onchange = () => set(input.value === "" ? undefined : read(input.value));
  return input;
}

function inputOf(schema, set, fallback) {
  const unlessUsual = (value) => set(value === fallback() ? undefined : value);
  if (schema.enum) {
    const select = element("select", {}, ...optionsOf(schema.enum.filter((name) => typeof name === "string")));
    select.onchange = () => unlessUsual(select.value);
    return select;
  }
  if (schema.type === "boolean") {
    const check = element("input", { type: "checkbox" });
    check.onchange = () => unlessUsual(check.checked);
    return check;
  }
  if (schema.type !== "integer" && schema.type !== "number") return textField(schema, set);
  const number = element("input", { type: "number", min: schema.minimum ?? "", max: schema.maximum ?? "", step: schema.type === "integer" ? 1 : "any" });
  number.oninput = () => set(number.value === "" ? undefined : Number(number.value));
  return number;
}

/// The control of a field by its schema.  `get` gives undefined where nothing is said; `usual` what a method sets then.
export function fieldOf(label, whole, get, set, usual = () => undefined) {
  const schema = typeOf(whole);
  if (schema.properties) return fieldsetOf(label, schema, get, set, usual);
  const fallback = () => usual() ?? schema.default;
  const input = inputOf(schema, set, fallback);
  const isTyped = input.type === "text" || input.type === "number";
  const example = input.placeholder;
  const show = () => {
    if (isTyped) input.placeholder = fallback() || example || "";
    const value = get() ?? (isTyped ? "" : fallback());
    if (input.type === "checkbox") input.checked = value;
    else if (document.activeElement !== input) input.value = value;
  };
  return { box: labelled(label, input, schema.description), show };
}

/// A map.  Where it may be missing, its box has a check that says whether it is there.
function fieldsetOf(label, schema, get, set, usual) {
  const isOn = () => !schema.isOptional || Boolean(get() === undefined ? usual() : get());
  const keep = (map) => set(Object.keys(map).length > 0 || (schema.isOptional && !usual()) ? map : undefined);
  const parts = Object.entries(schema.properties).map(([key, inner]) =>
    fieldOf(key.replaceAll("_", " "), inner, () => get()?.[key], (value) => {
      const all = { ...get(), [key]: value };
      if (value === undefined) delete all[key];
      keep(all);
    }, () => usual()?.[key]));
  const inside = element("div", {}, ...parts.map((part) => part.box));
  const check = element("input", { type: "checkbox" });
  check.onchange = () => set(check.checked ? (usual() ? undefined : {}) : usual() ? null : undefined);
  const title = schema.isOptional ? element("label", { className: "check" }, check, label) : label;
  const box = element("fieldset", { title: schema.description ?? "" }, element("legend", {}, title), inside);
  const show = () => {
    check.checked = isOn();
    inside.hidden = !isOn();
    parts.forEach((part) => part.show());
  };
  return { box, show };
}
