// The page: a question that the form changes, and what the core answers.
import models from "tidemark-models";
import { makeBackground } from "./background.js";
import { startCore } from "./core.js";
import { linkButton, showCopies } from "./copy.js";
import { bytesOf, programText, workerUrl } from "./files.js";
import { makeForm } from "./form.js";
import { element } from "./format.js";
import { makeGrowth } from "./growth.js";
import { makePlan } from "./plan.js";
import { firstSpec, fromFragment, specOf, toFragment } from "./question.js";
import { showRanks } from "./ranks.js";
import { makeTimeline } from "./timeline.js";
import { makeTreemap } from "./treemap.js";
import { showError, showVerdict } from "./verdict.js";

const FIRST_MODEL = "llama-3.1-8b";
const FIRST_CARD = "h100-80gb";
const at = (id) => document.getElementById(id);

function firstQuestion(schema) {
  const asked = fromFragment(location.hash, schema);
  if (asked && (asked.model === "own" || models.some((one) => one.name === asked.model))) return asked;
  return { model: FIRST_MODEL, config: null, spec: firstSpec(models.find((one) => one.name === FIRST_MODEL).config, FIRST_CARD), margin: null, growth: null, plan: null };
}

/// Runs `work` once things have been still for `ms`.
function whenStill(ms, work) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(work, ms);
  };
}

function answering(core, question, charts, answered) {
  const section = at("ranks-section");
  let latest = 0;

  const ranks = whenStill(150, async () => {
    const number = latest;
    const spec = specOf(question, models);
    if (!(spec.gpus > 1)) return;
    try {
      const report = JSON.parse(await core.predictRanks(spec));
      if (number === latest) showRanks(at("ranks"), report);
    } catch (error) {
      if (number === latest) at("ranks").replaceChildren(element("p", { textContent: error.message }));
    }
  });
  return async () => {
    const number = ++latest;
    const began = performance.now();
    const spec = specOf(question, models);
    section.hidden = !(spec.gpus > 1);
    try {
      const text = await core.predict(spec, question.margin);
      if (number !== latest) return;
      const report = JSON.parse(text);
      showVerdict(at("verdict"), report);
      charts.timeline.show(report);
      charts.treemap.show(report);
      at("assumed").replaceChildren(...report.assumptions.map((one) => element("li", { textContent: one.what })));
    } catch (error) {
      if (number !== latest) return;
      showError(at("verdict"), error);
    }
    document.body.classList.toggle("refused", at("verdict").classList.contains("error"));
    showCopies(at("copy"), core, { spec, margin: question.margin }, "", linkButton());
    ranks();
    answered();
    document.body.dataset.answered = String(number);
    document.body.dataset.answeredMs = (performance.now() - began).toFixed(1);
  };
}

/// Answers the newest question only, once for each frame.
function oncePerFrame(work) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      work();
    });
  };
}

async function start() {
  const compiled = await WebAssembly.compile(await bytesOf("tidemark.wasm"));
  const core = await startCore(globalThis.loadTidemark, compiled, programText);
  const question = firstQuestion(core.spec_schema);
  const charts = { timeline: makeTimeline(at("timeline"), at("legend"), at("reading"), core.categories), treemap: makeTreemap(at("treemap"), at("crumbs")) };
  const remember = whenStill(150, () => history.replaceState(null, "", `#${toFragment(question)}`));
  const show = () => {
    form.show();
    plan.show();
    growth.show();
    changed();
  };
  const background = () => makeBackground(() => workerUrl("worker.js"), compiled);
  const spec = () => specOf(question, models);
  const growth = makeGrowth({ core, background: background(), question, spec, remember });
  const plan = makePlan({
    core, background: background(), question, spec, remember,
    use: (keys) => {
      question.spec = keys;
      show();
    },
  });
  const changed = oncePerFrame(answering(core, question, charts, () => {
    remember();
    plan.follow();
    growth.follow();
  }));
  const form = makeForm(at("question"), core, models, question, changed);
  globalThis.addEventListener("hashchange", () => {
    const asked = fromFragment(location.hash, core.spec_schema);
    if (!asked || toFragment(asked) === toFragment(question)) return;
    Object.assign(question, asked);
    show();
  });
  changed();
}

start().catch((error) => showError(at("verdict"), error));
