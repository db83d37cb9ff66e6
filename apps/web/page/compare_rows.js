// What the tables of methods and of cards share.
import { element, exactly, size } from "./format.js";

const FITS = new Map([[true, ["yes", "yes"]], [false, ["no", "no"]], [null, ["may not", "maybe"]]]);

export function fitCell({ fits, verdict }) {
  const [textContent, className] = FITS.get(fits);
  return element("td", { className, textContent, title: verdict });
}

/// What is left of the card, or how much more would be needed.
export function leftCell({ free_bytes: free }) {
  if (free === undefined) return element("td", { textContent: "-" });
  return element("td", { textContent: free < 0 ? `${size(-free)} short` : size(free), title: exactly(free) });
}

/// Why there is no answer, across `cells` columns.
export function refusedCell(core, { error }, cells) {
  const why = core.words.line({ told: error });
  return element("td", { className: "soft", colSpan: cells, textContent: why, title: why });
}

export const headOf = (names) => element("thead", {}, element("tr", {}, ...names.map((textContent) => element("th", { scope: "col", textContent }))));

export const choiceButton = (textContent, onclick) => element("button", { type: "button", className: "choice", textContent, onclick });
