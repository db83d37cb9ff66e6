// Every card by its memory: whether the training fits, and what is left.
import { choiceButton, fitCell, headOf, leftCell, refusedCell } from "./compare_rows.js";
import { labelled } from "./fields.js";
import { element, exactly, size } from "./format.js";

const at = (id) => document.getElementById(id);
const CELLS = 2;  // behind the memory

/// The cards whose name or key holds every word.
export function matching(cards, words) {
  const wanted = words.toLowerCase().split(/[\s,]+/).filter(Boolean);
  return cards.filter(({ key, name }) => wanted.every((word) => `${key} ${name}`.toLowerCase().includes(word)));
}

/// "It fits on 3 of 49 cards, the smallest of them NVIDIA L4 (22.0 GiB)."
export function summary(cards, rows) {
  const fitting = cards.filter(({ key }) => rows.get(key)?.fits === true);
  if (fitting.length === 0) return `It fits on none of ${cards.length} cards.`;
  return `It fits on ${fitting.length} of ${cards.length} cards, the smallest of them ${fitting[0].name} (${size(fitting[0].total_bytes)}).`;
}

/// `choose` takes the key of a card.
export function makeCardTable(core, choose) {
  const cards = core.cards.toSorted((a, b) => a.total_bytes - b.total_bytes || a.name.localeCompare(b.name));
  const filter = element("input", { type: "search", placeholder: "H100, RTX" });
  const lines = new Map(cards.map((card) => [card.key, lineOf(card)]));
  const rows = new Map();  // of this question

  function lineOf(card) {
    const button = choiceButton(card.name, () => choose(card.key));
    const line = element("tr", {}, element("th", { scope: "row" }, button), element("td", { textContent: size(card.total_bytes), title: exactly(card.total_bytes) }), element("td", { textContent: "…", colSpan: CELLS }));
    return { line, button };
  }

  function fill(row) {
    const { line } = lines.get(row.name);
    while (line.cells.length > 2) line.deleteCell(2);
    line.append(...(row.error ? [refusedCell(core, row, CELLS)] : [fitCell(row), leftCell(row)]));
  }

  filter.oninput = () => {
    const shown = new Set(matching(cards, filter.value).map((card) => card.key));
    for (const [key, { line }] of lines) line.hidden = !shown.has(key);
  };
  at("cards-filter").replaceChildren(labelled("Cards whose name has", filter));
  at("cards-table").replaceChildren(element("table", { className: "rows" }, headOf(["card", "memory", "fits", "left"]), element("tbody", {}, ...[...lines.values()].map((one) => one.line))));
  return {
    names: () => cards.map((card) => card.key),
    /// A new question: the rows of the last one stand until theirs come.
    begin(gpu) {
      rows.clear();
      for (const [key, { line, button }] of lines) {
        line.classList.toggle("current", key === gpu);
        button.setAttribute("aria-pressed", String(key === gpu));
      }
    },
    add(more) {
      for (const row of more) {
        rows.set(row.name, row);
        fill(row);
      }
      if (rows.size === cards.length) at("cards-summary").textContent = summary(cards, rows);
    },
  };
}
