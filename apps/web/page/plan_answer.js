// A plan's answer: drawn, as tables, and what there is to copy of the answer that is chosen.
import { block, showCopies, wrapped } from "./copy.js";
import { element } from "./format.js";
import { makePareto } from "./pareto.js";
import { answerSpec, planOptions, pricesOf } from "./plan_question.js";
import { answersTable, pricedTable, refusedTable, whyNot } from "./plan_tables.js";

const at = (id) => document.getElementById(id);

/// The command that plans the same.
function commandBlocks(core, spec, wishes) {
  const { model, ...keys } = spec;
  const command = block("Plan it from the model's config.json", wrapped(`tidemark plan config.json ${core.options(keys).trim()} ${planOptions(wishes)}`.trim()));
  return wishes.cheapest ? [command, block("prices.json", JSON.stringify(pricesOf(wishes.cheapest, core.cards), null, 2))] : [command];
}

/// The result shows an answer of the core, and returns what it is in a line; `use` takes the keys of one that is to be shown above.
export function makeAnswer(core, use) {
  const pareto = makePareto(at("pareto"), at("pareto-legend"), at("pareto-reading"));
  const nameOf = (one) => core.options(one.change).trim() || "as it is";

  function choose(one, number, base, margin, commands) {
    const chosen = answerSpec(base, one);
    const { model, ...keys } = chosen;
    const take = element("button", { type: "button", textContent: `Show answer ${number} above`, onclick: () => use(keys) });
    showCopies(at("plan-copy"), core, { spec: chosen, margin }, `, answer ${number}`, take, ...commands);
  }

  /// {plan, text, card_bytes} to the question of `base` and `wishes`.
  return (answer, base, wishes) => {
    const found = JSON.parse(answer.plan);
    const isPriced = Array.isArray(found);
    const rows = isPriced ? found.flatMap((one) => one.answers) : found.answers;
    const limit = found.checkpointing?.budget_bytes ?? answer.card_bytes;
    const commands = commandBlocks(core, base, wishes);
    const take = (i) => choose(rows[i], i + 1, base, wishes.margin, commands);
    const tables = isPriced ? [pricedTable(found, nameOf, take)] : [answersTable(found.answers, nameOf, take), refusedTable(found, limit, nameOf), whyNot(found)];
    const printed = element("details", {}, element("summary", { textContent: "As the command prints it" }), element("pre", { tabIndex: 0 }, answer.text));
    at("plan-found").replaceChildren(...tables.filter(Boolean), printed);
    at("plan-plot").hidden = isPriced;
    if (!isPriced) pareto.show(found, limit, nameOf);
    if (rows.length > 0) take(0);
    else at("plan-copy").replaceChildren(...commands);
    return isPriced ? `on ${found.length} cards, the cheapest first` : answer.text.split("\n")[0];
  };
}
