// The page: a question that the form changes, and what the core answers.
import models from "tidemark-models";
import { makeBackground } from "./background.js";
import { makeCompare } from "./compare.js";
import { startCore } from "./core.js";
import { linkButton, showCopies } from "./copy.js";
import { bytesOf, programText, workerUrl } from "./files.js";
import { makeForm } from "./form.js";
import { element } from "./format.js";
import { makeGrowth } from "./growth.js";
import { findModel } from "./hub.js";
import { showLinks } from "./links.js";
import { makePlan } from "./plan.js";
import { configOf, firstSpec, fromFragment, specOf, toFragment } from "./question.js";
import { showRanks } from "./ranks.js";
import { makeTimeline } from "./timeline.js";
import { makeTreemap } from "./treemap.js";
import { peakTable, showError, showVerdict, showWaiting } from "./verdict.js";
import { makeWords } from "./words.js";

const FIRST_MODEL = "Qwen/Qwen3-VL-8B-Instruct";
const FIRST_CARD = "h100-80gb";
const at = (id) => document.getElementById(id);

/// Null where the address asks nothing.  `refusal` is why a model has no config.json, which is the answer then.
async function questionOfAddress(schema) {
  const asked = fromFragment(location.hash, schema);
  if (!asked || asked.config) return asked;
  if (!configOf(asked, models)) showWaiting(at("verdict"), `Looking up ${asked.model} on the hub …`);
  try {
    const [model, config] = await findModel(models, asked.model);
    return { ...asked, model, config };
  } catch (refusal) {
    return { ...asked, refusal };
  }
}

function firstQuestion() {
  const first = { model: FIRST_MODEL, config: null, margin: null, growth: null, plan: null };
  return { ...first, spec: firstSpec(configOf(first, models), FIRST_CARD) };
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
      if (number === latest) at("ranks").replaceChildren(element("p", { textContent: core.words.line(error) }));
    }
  });
  return async () => {
    const number = ++latest;
    const began = performance.now();
    const spec = specOf(question, models);
    section.hidden = !(spec.gpus > 1);
    let report = null;
    try {
      if (!spec.model) throw question.refusal;
      const text = await core.predictAlone(spec, question.margin);
      if (number !== latest) return;
      report = JSON.parse(text);
      showVerdict(at("verdict"), report);
      at("peak").replaceChildren(peakTable(report));
      charts.timeline.show(report);
      charts.treemap.show(report);
      at("assumed").replaceChildren(...report.assumptions.map((one) => element("li", { textContent: core.words.text(one.what) })));
    } catch (error) {
      if (number !== latest) return;
      showError(at("verdict"), core.words.error(error));
    }
    document.body.classList.toggle("refused", at("verdict").classList.contains("error"));
    showCopies(at("copy"), core, { spec, margin: question.margin }, "", linkButton());
    ranks();
    answered(report);
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
  core.words = makeWords(core.spec_schema);
  const question = (await questionOfAddress(core.spec_schema)) ?? firstQuestion();
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
  const use = (keys) => {
    question.spec = keys;
    show();
  };
  const plan = makePlan({ core, background: background(), question, spec, remember, use });
  const compare = makeCompare({ core, background: background(), question, spec, use });
  const changed = oncePerFrame(answering(core, question, charts, (report) => {
    remember();
    compare.follow(report);
    plan.follow();
    growth.follow();
  }));
  const form = makeForm(at("question"), core, models, question, changed);
  globalThis.addEventListener("hashchange", async () => {
    const { hash } = location;
    const asked = await questionOfAddress(core.spec_schema);
    if (!asked || hash !== location.hash || toFragment(asked) === toFragment(question)) return;
    Object.assign(question, asked);
    show();
  });
  changed();
}

showLinks(at("links"));
start().catch((error) => showError(at("verdict"), error));
