// The controls of a plan: what is best, on which cards, what may change, what stays.
import { element } from "./format.js";
import { labelled, optionsOf } from "./fields.js";
import { QUESTIONS, questionOf, withQuestion } from "./plan_question.js";

/// Values that a decision is first allowed with, where it has none of its own.
const NEEDS_VALUES = new Set(["freeze", "image_size"]);

function questionField(plan, set) {
  const select = element("select", {}, ...optionsOf(QUESTIONS.map((one) => one.name), Object.fromEntries(QUESTIONS.map((one) => [one.name, one.label]))));
  select.onchange = () => set(withQuestion(plan(), select.value));
  return { box: labelled("What is looked for", select), show: () => (select.value = questionOf(plan())) };
}

/// A whole number; what it is where nothing is said may depend on the question above.
function numberField({ key, label, low, high, usual }, plan, set) {
  const input = element("input", { type: "number", min: low, max: high, step: 1 });
  input.oninput = () => input.value !== "" && set({ ...plan(), [key]: Number(input.value) });
  const show = () => {
    if (document.activeElement !== input) input.value = plan()[key] ?? usual();
  };
  return { box: labelled(label, input), show };
}

function cardField(cards, plan, set) {
  const select = element("select", {}, element("option", { value: "", textContent: "the card of the question" }), ...cardOptions(cards));
  select.onchange = () => {
    const { card, ...rest } = plan();
    set(select.value ? { ...rest, card: select.value } : rest);
  };
  return { box: labelled("Card to plan for", select), show: () => (select.value = plan().card ?? "") };
}

const cardOptions = (cards) => cards.map((card) => element("option", { value: card.key, textContent: `${card.name} (${card.key})` }));

function budgetField(plan, set) {
  const input = element("input", { type: "text", placeholder: "card" });
  input.onchange = () => set({ ...plan(), checkpointing_under: input.value || "card" });
  const show = () => {
    if (document.activeElement !== input) input.value = plan().checkpointing_under ?? "";
  };
  return { box: labelled("Peak to stay within, such as 24GiB (card: all that it has)", input), show };
}

/// Cards by name, "h100-80gbx8", and what one GPU costs for an hour.
function pricesField(cards, plan, set) {
  const rows = element("div", { className: "prices" });
  const add = element("button", { type: "button", textContent: "Add a card" });
  let drawn = "[]";  // as they stand in the rows, which keep the focus while they are changed
  const entries = () => Object.entries(plan().cheapest ?? {});
  const say = (changed) => set({ ...plan(), cheapest: Object.fromEntries(changed) });

  function row([name, price], i) {
    const [, card, gpus] = cards.some((one) => one.key === name) ? [null, name, 1] : name.match(/^(.*)x(\d+)$/) ?? [null, name, 1];
    const select = element("select", {}, ...cardOptions(cards));
    const count = element("input", { type: "number", min: 1, max: 4096, step: 1, value: gpus });
    const cost = element("input", { type: "number", min: 0, step: "any", value: price });
    const remove = element("button", { type: "button", textContent: "Remove" });
    select.value = card;
    for (const [control, label] of [[select, "Card"], [count, "GPUs"], [cost, "Price of a GPU for an hour"], [remove, "Remove card"]]) control.setAttribute("aria-label", `${label} ${i + 1}`);
    const changed = () => {
      const all = entries().map((one, at) => (at === i ? [Number(count.value) > 1 ? `${select.value}x${count.value}` : select.value, Number(cost.value)] : one));
      drawn = JSON.stringify(all);
      say(all);
    };
    for (const control of [select, count, cost]) control.onchange = changed;
    remove.onclick = () => {
      say(entries().filter((_, at) => at !== i));
      add.focus();
    };
    return element("div", { className: "price" }, select, count, cost, remove);
  }

  add.onclick = () => {
    const next = cards.find((one) => !(one.key in (plan().cheapest ?? {})));
    say([...entries(), [next.key, 1]]);
  };
  const box = element("fieldset", {}, element("legend", { textContent: "Cards: how many, and what one costs for an hour" }), rows, add);
  const show = () => {
    if (JSON.stringify(entries()) === drawn) return;
    drawn = JSON.stringify(entries());
    rows.replaceChildren(...entries().map(row));
  };
  return { box, show };
}

const without = (list, name) => list.filter((one) => one.split("=")[0] !== name);
const listed = (plan, key, list) => (list.length > 0 ? { ...plan, [key]: list } : Object.fromEntries(Object.entries(plan).filter(([other]) => other !== key)));

/// A decision that changes what is learned: whether it may be taken, and its values.
function allowField({ name, help }, plan, set) {
  const check = element("input", { type: "checkbox" });
  const values = element("input", { type: "text", placeholder: help.match(/\[(.*)\]/)?.[1] ?? "values, with | between" });
  values.setAttribute("aria-label", `Values of ${name}`);
  const said = () => (plan().allow ?? []).find((one) => one.split("=")[0] === name);
  const say = () => {
    const wished = NEEDS_VALUES.has(name) && values.value === "" ? [] : [values.value ? `${name}=${values.value}` : name];
    set(listed(plan(), "allow", [...without(plan().allow ?? [], name), ...(check.checked ? wished : [])]));
  };
  check.onchange = () => {
    if (check.checked && NEEDS_VALUES.has(name) && values.value === "") values.focus();
    else say();
  };
  values.onchange = () => {
    check.checked = values.value !== "";
    say();
  };
  const show = () => {
    if (document.activeElement === values) return;
    check.checked = said() !== undefined;
    values.value = said()?.split("=")[1] ?? "";
  };
  const label = element("label", { className: "check", title: help }, check, element("span", { textContent: name.replaceAll("_", " ") }));
  return { box: element("div", { className: "allowed" }, label, values), show };
}

function fixField({ name, help }, plan, set) {
  const check = element("input", { type: "checkbox" });
  check.onchange = () => set(listed(plan(), "fix", [...without(plan().fix ?? [], name), ...(check.checked ? [name] : [])]));
  return { box: element("label", { className: "check", title: help }, check, element("span", { textContent: name.replaceAll("_", " ") })), show: () => (check.checked = (plan().fix ?? []).includes(name)) };
}

function fieldset(legend, fields) {
  const box = element("fieldset", {}, element("legend", { textContent: legend }), ...fields.map((one) => one.box));
  return { box, show: () => fields.forEach((one) => one.show()) };
}

/// Fills `host`.  `plan` gives the plan that is held now, `set` takes another; `spec` gives the training's keys.
export function makePlanForm(host, core, spec, plan, set) {
  const number = (field) => numberField(field, plan, set);
  const every = () => true;
  const only = (...names) => (name) => names.includes(name);
  const except = (...names) => (name) => !names.includes(name);
  const may = core.decisions.filter((one) => !one.same_training).map((one) => allowField(one, plan, set));
  const stays = core.decisions.filter((one) => one.same_training).map((one) => fixField(one, plan, set));
  const parts = [
    [questionField(plan, set), every],
    [budgetField(plan, set), only("checkpointing")],
    [pricesField(core.cards, plan, set), only("cheapest")],
    [cardField(core.cards, plan, set), except("cheapest")],
    [number({ key: "gpus", label: "GPUs of a node", low: 1, high: 4096, usual: () => spec().gpus ?? 1 }), except("cheapest")],
    [number({ key: "nodes", label: "Nodes", low: 1, high: 65536, usual: () => 1 }), except("cheapest")],
    [number({ key: "samples", label: "Samples of a step, over all GPUs (0: as many as now)", low: 0, high: 2 ** 30, usual: () => 0 }), except("checkpointing")],
    [number({ key: "answers", label: "Answers", low: 1, high: 100, usual: () => 3 }), except("cheapest", "checkpointing", "pareto")],
    [fieldset("May change, though it changes what is learned", may), except("checkpointing")],
    [fieldset("Stays as it is", stays), except("checkpointing")],
  ];
  host.onsubmit = (event) => event.preventDefault();
  host.replaceChildren(...parts.map(([part]) => part.box));
  return {
    show() {
      for (const [part, isAsked] of parts) {
        part.box.hidden = !isAsked(questionOf(plan()));
        part.show();
      }
    },
  };
}
