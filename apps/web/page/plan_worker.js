// What runs in the worker: the same core, loaded of the page's own module.  tidemark.js stands before it in the file.
import { callable, CoreError, loadCompiled } from "./core.js";

let call = null;

async function answer({ compiled, question }) {
  if (compiled) {
    call = loadCompiled(globalThis.loadTidemark, compiled).then(callable);
    return;
  }
  try {
    globalThis.postMessage((await call)("plan", question));
  } catch (error) {
    globalThis.postMessage({ error: error instanceof CoreError ? error.told : { message: error.message, bug: true } });
  }
}

globalThis.onmessage = ({ data }) => answer(data);
