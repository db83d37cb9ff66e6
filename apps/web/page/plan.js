// Which configuration to run: asked in a worker once it is wanted, and from then on whenever the question has changed.
import { makeAnswer } from "./plan_answer.js";
import { makePlanForm } from "./plan_form.js";
import { asked, questionOf } from "./plan_question.js";

const STILL_MS = 500;  // before a question that has changed is planned again
const at = (id) => document.getElementById(id);

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
export function makePlan({ core, background, question, spec, remember, use }) {
  const show = makeAnswer(core, (keys) => {
    use(keys);
    last = key();  // what was planned stays in view
  });
  const clock = makeClock(at("plan-clock"));
  let wished = question.plan ?? {};
  let last = "";    // what was planned last, or is
  let count = 0;
  let timer;
  const askedNow = () => asked(wished, spec(), question.margin);
  const key = () => JSON.stringify(askedNow());

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

  function refuse(error) {
    tell(core.words.line(error), false);
    at("plan-answer").hidden = true;
  }

  async function ask() {
    const now = spec();
    const [base, wishes] = askedNow();
    last = key();
    const number = ++count;
    if (questionOf(wished) === "cheapest" && Object.keys(wishes.cheapest).length === 0) return refuse(new Error("add the cards to choose from"));
    tell("planning …", true);
    try {
      const answer = await background.ask("plan", await core.questionText(base, { plan: wishes }));
      if (number !== count || answer === null) return;
      at("plan-answer").hidden = false;
      tell(show(answer, { ...base, gpu: base.gpu ?? now.gpu }, wishes), false);
    } catch (error) {
      if (number !== count) return;
      refuse(error);
    }
    document.body.dataset.planned = String(number);
  }

  /// Plans again where the question is another one, once it is still.
  function follow() {
    if (!question.plan || key() === last) return;
    count++;
    clearTimeout(timer);
    background.stop();
    tell("planning …", true);
    timer = setTimeout(ask, STILL_MS);
  }

  at("plan-ask").onclick = () => {
    question.plan = wished;
    clearTimeout(timer);
    remember();
    ask();
  };
  at("plan-stop").onclick = () => {
    count++;
    clearTimeout(timer);
    background.stop();
    question.plan = null;
    last = "";
    remember();
    tell("stopped", false);
    at("plan-ask").focus();
  };
  form.show();
  return {
    /// After the question has been answered.
    follow() {
      form.show();
      follow();
    },
    /// After the question has come from elsewhere.
    show() {
      wished = question.plan ?? wished;
      form.show();
    },
  };
}
