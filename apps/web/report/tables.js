// The lists of a report as tables.
import { element, exactly, size } from "../page/format.js";

const SHOWN = 15;  // rows of a list before it folds: nothing is left out

const cell = (content, properties = {}) => element("td", properties, content);
const bytes = (count) => cell(size(count), { title: exactly(count) });

function table(title, names, rows) {
  const head = element("tr", {}, ...names.map((textContent) => element(textContent ? "th" : "td", textContent ? { scope: "col", textContent } : {})));
  const wide = element("div", { className: "wide", tabIndex: 0, role: "region" }, element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)));
  wide.setAttribute("aria-label", title);
  return wide;
}

/// Numbers between dots are those of layers: repeated ones are one row.
export function layersTogether(rows) {
  const sums = new Map();
  for (const { name, bytes: count } of rows) {
    const together = name.split(".").map((part) => (/^\d+$/.test(part) ? "*" : part)).join(".");
    sums.set(together, (sums.get(together) ?? 0) + count);
  }
  return [...sums].map(([name, count]) => ({ name, bytes: count }));
}

/// The largest first, and how much of the whole each is.
function shares(title, all, whole) {
  const rows = all.filter((one) => one.bytes !== 0).sort((a, b) => b.bytes - a.bytes);
  if (rows.length === 0) return [];
  const made = rows.map((one, i) => {
    const percent = whole > 0 ? Math.min(100, (100 * one.bytes) / whole) : 0;
    const filled = element("span");
    filled.style.width = `${percent}%`;
    return element("tr", { hidden: i >= SHOWN }, element("td", { className: "name" }, element("code", { textContent: one.name })), bytes(one.bytes), cell(`${percent.toFixed(1)} %`), element("td", { className: "share" }, element("div", { className: "filled" }, filled)));
  });
  const shown = table(title, ["", "bytes", "share", ""], made);
  const more = element("button", { type: "button", textContent: `show ${rows.length - SHOWN} more`, onclick: () => {
    for (const row of made) row.hidden = false;
    more.remove();
    shown.focus();
  } });
  return [element("h3", { textContent: title }), shown, ...(rows.length > SHOWN ? [more] : [])];
}

export function lists({ at_peak: live, peak }) {
  const titled = [["By category", live.by_category], ["By module, layers together", layersTogether(live.by_module)], ["By module", live.by_module], ["By line of the program", live.by_line], ["By operation", live.by_operation]];
  return titled.flatMap(([title, rows]) => shares(title, rows, peak.allocated_bytes));
}

export function outOfMemory({ message, where, step, phase }) {
  const told = [element("p", { textContent: `in step ${step}, ${phase}` }), element("pre", { tabIndex: 0, textContent: message })];
  return where ? [...told, element("p", {}, "at ", element("code", { textContent: where }))] : told;
}

export function steps(report) {
  if (report.steps.length === 0) return [];
  const row = (first, second, one) => element("tr", {}, element("th", { scope: "row", textContent: first }), cell(second), bytes(one.peak_allocated_bytes), bytes(one.peak_reserved_bytes), bytes(one.end_allocated_bytes));
  const rows = report.steps.flatMap((step) => [row(step.step, "", step), ...step.phases.map((phase) => row("", phase.phase, phase))]);
  for (const one of rows) if (one.cells[0].textContent === "") one.cells[0].replaceWith(cell(""));
  return [element("h2", { textContent: "Steps" }), table("Steps", ["step", "phase", "peak allocated", "peak reserved", "allocated at the end"], rows)];
}

export function communicators(report) {
  const all = report.communicators ?? [];
  if (all.length === 0) return [];
  const rows = all.map((one) => {
    const uses = [...(one.collective ? ["collectives"] : []), ...(one.peers > 0 ? [`${one.peers} peers`] : [])].join(", ");
    const range = one.typical_bytes === undefined ? [cell("not known"), cell("")] : [bytes(one.typical_bytes), cell(`${one.low_bytes.toLocaleString("en-US")} to ${exactly(one.high_bytes)}`)];
    return element("tr", {}, cell(element("code", { textContent: one.name })), cell(String(one.ranks.length)), cell(one.across_nodes ? "several" : "one"), cell(uses), ...range);
  });
  return [element("h2", { textContent: "Communicators" }), table("Communicators", ["name", "ranks", "nodes", "used for", "typical", "range"], rows)];
}

export function assumptions(report) {
  if (report.assumptions.length === 0) return [];
  const rows = report.assumptions.map((one) => element("tr", {}, cell(one.what), cell(element("code", { textContent: one.where })), cell(String(one.count))));
  return [element("h2", { textContent: "Assumed" }), table("Assumed", ["what", "where", "times"], rows)];
}

/// What was run, with what, and what it took.
export function about({ script, versions, sources, host }) {
  const lines = [];
  if (script?.command.length > 0) lines.push(element("code", { textContent: script.command.join(" ") }));
  if (script?.stopped_after_steps) lines.push(`stopped after ${script.stopped_after_steps} steps`);
  const named = Object.entries(versions ?? {}).map(([name, version]) => `${name} ${version}${sources?.[name] ? ` (${sources[name]})` : ""}`);
  if (named.length > 0) lines.push(named.join(", "));
  if (host?.seconds > 0) lines.push(`on the host: ${host.seconds.toFixed(1)} s, ${size(host.peak_rss_bytes)}`);
  return lines.map((line) => element("p", {}, line));
}
