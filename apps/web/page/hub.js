// A model by its name on the hub, or its address there.
import { parseConfig } from "./config_text.js";
import { bundled } from "./models.js";

const HUB = "https://huggingface.co";
const PASTE = "Paste its config.json instead.";

/// "Qwen/Qwen3-8B" of itself, of an address of the hub, of a name without an owner; null of anything else.
export function hubName(text) {
  const path = text.trim().replace(/^(https?:\/\/)?(www\.)?(huggingface\.co|hf\.co)\//i, "").split(/[?#]/)[0].split("/").filter(Boolean);
  const name = path.slice(0, 2).join("/");
  const isAddress = path.length > 2 && !["tree", "blob", "resolve", "raw"].includes(path[2]);
  return !isAddress && /^[\w.-]+(\/[\w.-]+)?$/.test(name) ? name : null;
}

/// config.json of a name with its owner.  What went wrong is thrown in words for a reader.
export async function configOfHub(name, ask = fetch) {
  if (!name.includes("/")) throw new Error(`${name} is not bundled. Write its owner too, such as Qwen/Qwen3-8B, or an address of the hub.`);
  let answer;
  try {
    answer = await ask(`${HUB}/${name}/resolve/main/config.json`);
  } catch {
    throw new Error(`The hub does not answer. ${PASTE}`);
  }
  if (answer.status === 401 || answer.status === 403) throw new Error(`The hub shows ${name} to its account holders alone, or has no such model. ${PASTE}`);
  if (answer.status === 404) throw new Error(`The hub has no config.json of ${name}. Check its name, or paste its config.json.`);
  if (!answer.ok) throw new Error(`The hub answers ${answer.status} for ${name}. ${PASTE}`);
  try {
    return parseConfig(await answer.text());
  } catch (error) {
    throw new Error(`config.json of ${name} is not JSON: ${error.message}. ${PASTE}`);
  }
}

/// [name, config.json] of a name or an address; null instead of the config.json of a model of the list.
export async function findModel(models, text, ask = fetch) {
  const name = hubName(text);
  if (!name) throw new Error(`${text} is no name and no address of a model, such as Qwen/Qwen3-8B.`);
  const found = bundled(models, name);
  return found ? [found.name, null] : [name, await configOfHub(name, ask)];
}
