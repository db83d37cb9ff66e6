// Which configuration to run: asked in a worker once it is wanted, and from then on whenever the question has changed.
import { block, showCopies, wrapped } from "./copy.js";
import { element } from "./format.js";
import { makePareto } from "./pareto.js";
import { makePlanForm } from "./plan_form.js";
import { answerSpec, asked, planOptions, pricesOf, questionOf } from "./plan_question.js";
import { answersTable, pricedTable, refusedTable, whyNot } from "./plan_tables.js";

const STILL_MS = 500;  // before a question that has changed is planned again
const at = (id) => document.getElementById(id);

/// The command that plans the same.
function commandBlocks(core, spec, wishes) {
  const { model, ...keys } = spec;
  const command = block("Plan it from the model's config.json", wrapped(`tidemark plan config.json ${core.options(keys).trim()} ${planOptions(wishes)}`.trim()));
  return wishes.cheapest ? [command, block("prices.json", JSON.stringify(pricesOf(wishes.cheapest, core.cards), null, 2))] : [command];
}

/// Seconds that pass, for those who look: nothing is read aloud each second.
function makeClock(host) {
  let timer;
  return {
    start() {
      const began = performance.now();
      const show = () => (host.textContent = `${((performance.now() - began) / 1000).toFixed(0)} s`);
      clearInterval(timer);
      timer = setInterval(show, 1000);
      show();
    },
    stop() {
      clearInterval(timer);
      host.textContent = "";
    },
  };
}

/// `spec` gives the training's keys, `use` takes others; `question.plan` is what is planned, null as long as nothing is.
export function makePlan({ core, planner, question, spec, remember, use }) {
  const pareto = makePareto(at("pareto"), at("pareto-legend"), at("pareto-reading"));
  const clock = makeClock(at("plan-clock"));
  let wished = question.plan ?? {};
  let last = "";    // what was planned last, or is
  let count = 0;
  let timer;
  const key = () => JSON.stringify(asked(wished, spec()));

  const form = makePlanForm(at("plan-question"), core, spec, () => wished, (changed) => {
    wished = changed;
    form.show();
    if (!question.plan) return;
    question.plan = wished;
    remember();
    follow();
  });

  function tell(text, isBusy) {
    if (at("plan-status").textContent !== text) at("plan-status").textContent = text;
    at("plan-answer").setAttribute("aria-busy", isBusy);
    at("plan-stop").hidden = !question.plan;
    if (isBusy) clock.start();
    else clock.stop();
  }

  function show(answer, base, wishes) {
    const found = JSON.parse(answer.plan);
    const [first] = answer.text.split("\n");
    const isPriced = Array.isArray(found);
    tell(isPriced ? `on ${found.length} cards, the cheapest first` : first, false);
    const rows = isPriced ? found.flatMap((one) => one.answers) : found.answers;
    const choose = (i) => {
      const chosen = answerSpec(base, rows[i]);
      const of = `, answer ${i + 1}`;
      const take = element("button", { type: "button", textContent: `Show answer ${i + 1} above`, onclick: () => {
        const { model, ...keys } = chosen;
        use(keys);
        last = key();  // what was planned stays in view
      } });
      showCopies(at("plan-copy"), core, chosen, of, take, ...commandBlocks(core, base, wishes));
    };
    const nameOf = (one) => core.options(one.change).trim() || "as it is";
    const limit = found.checkpointing?.budget_bytes ?? answer.card_bytes;
    const tables = isPriced ? [pricedTable(found, nameOf, choose)] : [answersTable(found.answers, nameOf, choose), refusedTable(found, limit, nameOf), whyNot(found)];
    at("plan-found").replaceChildren(...tables.filter(Boolean), element("details", {}, element("summary", { textContent: "As the command prints it" }), element("pre", { tabIndex: 0 }, answer.text)));
    at("plan-plot").hidden = isPriced;
    if (!isPriced) pareto.show(found, limit, nameOf);
    if (rows.length > 0) choose(0);
    else at("plan-copy").replaceChildren(...commandBlocks(core, base, wishes));
  }

  function refuse(error) {
    tell(error.message + (error.hint ? `: ${error.hint}` : ""), false);
    at("plan-answer").hidden = true;
  }

  async function ask() {
    const now = spec();
    const [base, wishes] = asked(wished, now);
    last = key();
    const number = ++count;
    if (questionOf(wished) === "cheapest" && Object.keys(wishes.cheapest).length === 0) return refuse(new Error("add the cards to choose from"));
    tell("planning …", true);
    try {
      const answer = await planner.ask(await core.planQuestion(base, wishes));
      if (number !== count || answer === null) return;
      at("plan-answer").hidden = false;
      show(answer, { ...base, gpu: base.gpu ?? now.gpu }, wishes);
    } catch (error) {
      if (number === count) refuse(error);
    }
    document.body.dataset.planned = String(number);
  }

  /// Plans again where the question is another one, once it is still.
  function follow() {
    if (!question.plan || key() === last) return;
    count++;
    clearTimeout(timer);
    planner.stop();
    tell("planning …", true);
    timer = setTimeout(ask, STILL_MS);
  }

  at("plan-ask").onclick = () => {
    question.plan = wished;
    remember();
    ask();
  };
  at("plan-stop").onclick = () => {
    count++;
    clearTimeout(timer);
    planner.stop();
    question.plan = null;
    last = "";
    remember();
    tell("stopped", false);
    at("plan-ask").focus();
  };
  form.show();
  return {
    follow,
    /// After the question has come from elsewhere.
    show() {
      wished = question.plan ?? wished;
      form.show();
    },
  };
}
