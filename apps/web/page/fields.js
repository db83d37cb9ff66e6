// What both forms are made of.
import { element } from "./format.js";

export function labelled(label, control, help) {
  const made = element("label", { className: "field" }, element("span", { textContent: label }), control);
  if (help) made.title = help;
  return made;
}

export const optionsOf = (names, labels = {}) => names.map((name) => element("option", { value: name, textContent: labels[name] ?? String(name).replaceAll("_", " ") }));
