// The same training by other methods and on every card, and what makes it fit: answered in a worker, once the question is still.
import { makeCardTable } from "./compare_cards.js";
import { showMethods, showRemedies } from "./compare_methods.js";
import { methodsFor } from "./method_field.js";

const STILL_MS = 300;
const CARDS_AT_ONCE = 7;  // rows that come at once
const at = (id) => document.getElementById(id);

/// `spec` gives the training's keys, with its model; `use` takes others.
export function makeCompare({ core, background, question, spec, use }) {
  const cards = makeCardTable(core, (gpu) => use({ ...question.spec, gpu }));
  let last = "", count = 0, timer;
  const ask = (wanted) => core.verdicts((work) => background.ask("verdicts", work), spec(), { ...(question.margin && { margin: question.margin }), ...wanted });
  const setStale = (isStale) => ["methods", "cards"].forEach((id) => at(id).setAttribute("aria-busy", isStale));

  function* parts(report) {
    yield [{ methods: methodsFor(core, spec().model, question.spec.method) }, ({ methods }) => {
      showMethods(at("methods"), core, { rows: methods, keys: question.spec, card: report.card.name }, use);
      at("methods").setAttribute("aria-busy", false);
    }];
    if (report.fits === false) yield [{ remedies: true }, ({ remedies }) => showRemedies(at("remedies"), core, remedies, (change) => use({ ...question.spec, ...change }))];
    const names = cards.names();
    for (let i = 0; i < names.length; i += CARDS_AT_ONCE) yield [{ cards: names.slice(i, i + CARDS_AT_ONCE) }, (answer) => cards.add(answer.cards)];
  }

  async function answer(report) {
    const number = ++count;
    try {
      cards.begin(question.spec.gpu);
      for (const [wanted, show] of parts(report)) {
        const found = await ask(wanted);
        if (number !== count || found === null) return;
        show(found);
      }
      at("compare-status").textContent = "";
    } catch (error) {
      if (number !== count) return;
      at("compare-status").textContent = core.words.line(error);
    }
    setStale(false);
    document.body.dataset.compared = String(number);
  }

  return {
    /// After a report; null where the question was refused.
    follow(report) {
      const key = JSON.stringify([question.spec, question.margin, question.model, question.config]);
      if (key === last) return;
      last = key;
      count++;
      clearTimeout(timer);
      background.stop();
      setStale(true);
      at("remedies").replaceChildren();
      if (report) timer = setTimeout(() => answer(report), STILL_MS);
    },
  };
}
