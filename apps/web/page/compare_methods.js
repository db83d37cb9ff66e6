// The methods side by side, and the changes with which a training fits.
import { choiceButton, fitCell, headOf, leftCell, refusedCell } from "./compare_rows.js";
import { element, exactly, size } from "./format.js";
import { methodLabel } from "./method_field.js";

const CELLS = 3;  // behind the method

/// Puts the focus back on the button of the same name.
function keepingFocus(host, work) {
  const { activeElement } = document;
  const label = host.contains(activeElement) ? activeElement.textContent : null;
  work();
  if (label !== null) [...host.querySelectorAll("button")].find((one) => one.textContent === label)?.focus();
}

const peakCell = ({ device_bytes: bytes }) => (bytes === undefined ? element("td", { textContent: "-" }) : element("td", { textContent: size(bytes), title: exactly(bytes) }));

/// `rows` of the core; `use` takes the keys of a spec.
export function showMethods(host, core, { rows, keys, card }, use) {
  const line = (row) => {
    const isCurrent = row.name === keys.method;
    const button = choiceButton(methodLabel(row.name), () => use(core.withMethod(keys, row.name)));
    button.setAttribute("aria-pressed", String(isCurrent));
    const cells = row.error ? [refusedCell(core, row, CELLS)] : [peakCell(row), fitCell(row), leftCell(row)];
    return element("tr", { className: isCurrent ? "current" : "" }, element("th", { scope: "row" }, button), ...cells);
  };
  const caption = element("caption", { textContent: `On ${card}, with all else as it is set.` });
  keepingFocus(host, () => host.replaceChildren(element("table", { className: "rows" }, caption, headOf(["method", "peak", "fits", "left"]), element("tbody", {}, ...rows.map(line)))));
}

/// Changes of a spec, each of which makes the training fit.
export function showRemedies(host, core, remedies, use) {
  if (remedies.length === 0) return;
  const item = ({ change, device_bytes: bytes }) => element("li", {}, element("button", { type: "button", textContent: core.words.change(change), onclick: () => use(change) }), ` peak ${size(bytes)}`);
  host.replaceChildren(element("p", { textContent: "It fits with one of these changes:" }), element("ul", {}, ...remedies.map(item)));
}
