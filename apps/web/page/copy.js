// The same question for a terminal, a program of one's own, a trainer; and the link.
import { element } from "./format.js";

const WIDTH = 100;

export function wrapped(words) {
  return words.replace(new RegExp(`(.{1,${WIDTH}})(?: (?=--)|$)`, "g"), "$1 \\\n    ").trimEnd().replace(/ \\$/, "");
}

function commands(core, spec, margin) {
  const { model, ...keys } = spec;
  const kept = margin ? ` --margin ${margin}` : "";
  const gpus = spec.gpus > 1 ? ` --gpus ${spec.gpus}` : "";
  const allocator = spec.allocator ? ` --allocator ${spec.allocator}` : "";
  const program = spec.gpus > 1 ? `torchrun --nproc-per-node ${spec.gpus} train.py` : "python train.py";
  return {
    predict: wrapped(`tidemark predict config.json ${core.options(keys).trim()}${kept}`),
    run: `tidemark run --gpu ${spec.gpu}${gpus}${allocator}${kept} -- ${program}`,
  };
}

async function copy(text, button) {
  const label = button.textContent;
  await navigator.clipboard.writeText(text);
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = label), 1500);
}

/// A text, and a button that copies it.
export function block(title, text) {
  const button = element("button", { type: "button", textContent: "Copy" });
  button.setAttribute("aria-label", `Copy: ${title}`);
  button.onclick = () => copy(text, button).catch(() => (button.textContent = "Select it, and press Ctrl+C"));
  const shown = element("pre", { tabIndex: 0, role: "group" }, text);
  shown.setAttribute("aria-label", title);
  return element("div", { className: "block" }, element("h3", { textContent: title }), button, shown);
}

/// What a file is called that holds one.
const FILES = { python: "train.py", trainer: "arguments.json" };

/// Made when it is looked at: a file of a trainer is a prediction of its own.
function trainers(core, spec, of, host) {
  const made = element("div");
  const select = element("select", {}, element("option", { value: "", textContent: "choose one" }), ...core.formats.map(({ name, title }) => element("option", { value: name, textContent: title })));
  select.value = host.dataset.format ?? "";
  const show = async () => {
    const format = (host.dataset.format = select.value);
    if (!format) return made.replaceChildren();
    try {
      const loop = format === "python" ? {} : { loop: "trainer" };
      const files = await core.write({ ...spec, ...loop }, format, FILES[format] ?? "train.yaml");
      made.replaceChildren(...files.map((file) => block(file.path, file.text)));
    } catch (error) {
      made.replaceChildren(element("p", { textContent: core.words.line(error) }));
    }
  };
  select.onchange = show;
  show();
  return element("div", {}, element("label", { className: "field" }, element("span", { textContent: `A trainer's configuration${of}` }), select), made);
}

/// A training, and what is kept free beside it, for each of them; `of` says which it is of several, `more` stands before.  `host` remembers the trainer that was last looked at.
export function showCopies(host, core, { spec, margin }, of, ...more) {
  const { predict, run } = commands(core, spec, margin);
  host.replaceChildren(...more, block(`Predict it from the model's config.json${of}`, predict), block(`Run your own program on the virtual GPU${of}`, run), trainers(core, spec, of, host));
}

export function linkButton() {
  const link = element("button", { type: "button", textContent: "Copy a link to this question" });
  link.onclick = () => copy(location.href, link).catch(() => (link.textContent = "It is in the address bar"));
  return link;
}
