// What runs in a worker: the same core, loaded of the page's own module.  tidemark.js stands before it in the file.
import { callable, CoreError, loadCompiled } from "./core.js";
import { pointOf } from "./growth_points.js";

let call = null;

/// Programs are kept from one question to the next.
function verdicts(ask, { question, programs }) {
  for (const [name, text] of programs) ask("hold_program", name, text);
  return ask("verdicts", question);
}

const WORK = {
  verdicts,
  plan: (ask, question) => ask("plan", question),
  point: (ask, question) => pointOf((one) => JSON.parse(ask.text("predict", one)), question),
};

async function answer({ compiled, work, question }) {
  if (compiled) {
    call = loadCompiled(globalThis.loadTidemark, compiled).then(callable);
    return;
  }
  try {
    globalThis.postMessage(WORK[work](await call, question));
  } catch (error) {
    globalThis.postMessage({ error: error instanceof CoreError ? error.told : { message: error.message, bug: true } });
  }
}

globalThis.onmessage = ({ data }) => answer(data);
