// What takes long is answered in a worker, so that the page goes on: a newer question ends the one that is being answered.
import { CoreError } from "./core.js";

/// `urlOf` gives the address of the worker's script once a worker is wanted, `compiled` is the WebAssembly.Module of the core.
export function makeBackground(urlOf, compiled) {
  let url = null;
  let worker = null;
  let newest = 0;
  let dropped = null;  // tells who waits that there will be no answer

  function started() {
    const made = new Worker(url);
    made.postMessage({ compiled });
    return made;
  }

  function end() {
    worker.terminate();
    worker = null;
    dropped = null;
  }

  function stop() {
    newest++;
    if (!dropped) return;
    dropped();
    end();
  }

  function answered(work, question) {
    worker ??= started();
    return new Promise((resolve, reject) => {
      dropped = () => resolve(null);
      worker.onmessage = ({ data }) => {
        dropped = null;
        if (data.error) reject(new CoreError(data.error));
        else resolve(data);
        if (data.error?.bug) end();
      };
      worker.onerror = (event) => {
        reject(new Error(event.message || "the worker did not start"));
        end();
      };
      worker.postMessage({ work, question });
    });
  }

  return {
    stop,
    /// What worker.js makes of a question; null where it was stopped, or a newer question came.
    async ask(work, question) {
      stop();
      const number = newest;
      url ??= await urlOf();
      return number === newest ? answered(work, question) : null;
    },
  };
}
