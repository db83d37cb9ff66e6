// What was planned, as tables.
import { duration, element, exactly, size } from "./format.js";

const cell = (textContent, properties = {}) => element("td", { textContent, ...properties });
const bytes = (count) => cell(size(count), { title: exactly(count) });

function headed(caption, names, rows) {
  const head = element("tr", {}, ...names.map((textContent) => element("th", { scope: "col", textContent })));
  const table = element("table", {}, element("caption", { textContent: caption }), element("thead", {}, head), element("tbody", {}, ...rows));
  const wide = element("div", { className: "wide", tabIndex: 0, role: "region" }, table);
  wide.setAttribute("aria-label", caption);
  return wide;
}

/// What eight of ten published steps took of their estimates, and the estimate, which is of kernels that were timed alone.
const time = ({ estimate, low, high }) => (estimate > 0 ? `${duration(low)} to ${duration(high)} (kernels ${duration(estimate)})` : "not known");

/// One of them is chosen, at first the first.
function choice(i, choose) {
  const radio = element("input", { type: "radio", name: "plan-answer", checked: i === 0, onchange: () => choose(i) });
  radio.setAttribute("aria-label", `Answer ${i + 1}`);
  return element("td", {}, radio);
}

export function answersTable(answers, nameOf, choose) {
  if (answers.length === 0) return null;
  const rows = answers.map((one, i) => element("tr", {}, choice(i, choose), cell(time(one.step_seconds)), bytes(one.peak.device_bytes), bytes(one.peak.reserved_bytes), bytes(one.peak.allocated_bytes), cell(nameOf(one), { className: "change" })));
  const general = answers[0].step_seconds.of_cards_in_general ? ", times by what cards reach in general" : "";
  return headed(`What fits, the best first${general}`, ["answer", "a step takes", "device", "reserved", "allocated", "change"], rows);
}

/// By how much it is more than the card has; less where what the card holds besides, or another order of addresses, decides.
function why(need, limit) {
  return need > limit ? `${size(need - limit)} more than the card has` : "not in every order of addresses, with what the card holds besides";
}

/// What would be better and does not fit; where nothing fits, the least that would do.
export function refusedTable({ refused, least }, limit, nameOf) {
  const all = least ? [least, ...refused] : refused;
  if (all.length === 0) return null;
  const rows = all.map((one) => element("tr", {}, bytes(one.peak.device_bytes), cell(why(one.peak.device_bytes, limit)), cell(time(one.step_seconds)), cell(nameOf(one), { className: "change" })));
  return headed(least ? "Nothing fits; first the least that would do" : "Would be better, and does not fit", ["needs", "why not", "a step takes", "change"], rows);
}

/// What cannot be, and why.
export function whyNot({ candidates, simulated, not_simulated: reasons }) {
  const rows = Object.entries(reasons).sort((a, b) => b[1] - a[1]).map(([reason, count]) => element("li", { textContent: `${count}: ${reason}` }));
  const told = element("p", { className: "soft", textContent: `decided among ${candidates.toLocaleString("en-US")} configurations by ${simulated.toLocaleString("en-US")} simulations` });
  if (rows.length === 0) return told;
  return element("div", {}, told, element("details", {}, element("summary", { textContent: "What could not be simulated, and why" }), element("ul", {}, ...rows)));
}

export function pricedTable(plans, nameOf, choose) {
  let number = 0;
  const rows = plans.map((plan) => {
    const one = plan.answers[0] ?? plan.least;
    const cost = plan.price_per_1000_steps;
    const first = plan.answers[0] ? choice(number++, choose) : cell("");
    return element("tr", {}, first, cell(plan.place), cell(cost === undefined ? "does not fit" : cost.toFixed(2)), cell(one ? time(one.step_seconds) : ""), one ? bytes(one.peak.device_bytes) : cell(""), cell(one ? nameOf(one) : "", { className: "change" }));
  });
  return headed("The cheapest first", ["answer", "cards", "1000 steps cost", "a step takes", "device", "change"], rows);
}
