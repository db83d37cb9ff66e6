// What a plan is asked: the page keeps {goal | largest | checkpointing_under | cheapest, card, gpus, nodes, samples, answers, fix, allow};
// the core is asked as `tidemark plan` is.

/// The questions, by what is kept of each.
export const QUESTIONS = [
  { name: "fastest", label: "the fastest that fits", wish: {} },
  { name: "least_memory", label: "the one that needs least", wish: { goal: "least_memory" } },
  { name: "smallest_change", label: "the fewest changes until it fits", wish: { goal: "smallest_change" } },
  { name: "pareto", label: "every trade of memory for time", wish: { goal: "pareto" } },
  { name: "batch", label: "the largest batch", wish: { largest: "batch" } },
  { name: "seq", label: "the longest sequence", wish: { largest: "seq" } },
  { name: "images", label: "the most images", wish: { largest: "images" } },
  { name: "checkpointing", label: "the layers to checkpoint within a peak", wish: { checkpointing_under: "card" } },
  { name: "cheapest", label: "the card that trains at the least cost", wish: { cheapest: {} } },
];
const KINDS = ["goal", "largest", "checkpointing_under", "cheapest"];

export function questionOf(plan) {
  if (plan.checkpointing_under !== undefined) return "checkpointing";
  if (plan.cheapest) return "cheapest";
  return plan.largest ?? plan.goal ?? "fastest";
}

/// The same wishes with another question.
export function withQuestion(plan, name) {
  const rest = Object.fromEntries(Object.entries(plan).filter(([key]) => !KINDS.includes(key)));
  return { ...rest, ...QUESTIONS.find((one) => one.name === name).wish };
}

const place = (card, gpus) => (gpus > 1 ? `${card}x${gpus}` : card);

/// [spec, wishes] for the core; `margin` is the question's.  Wishes that another question has no use for are kept, and not asked.
export function asked(plan, spec, margin = null) {
  const { card, gpus = spec.gpus ?? 1, nodes, ...rest } = plan;
  const wishes = margin ? { ...rest, margin } : rest;
  const name = questionOf(plan);
  if (name === "checkpointing") for (const key of ["fix", "allow", "samples"]) delete wishes[key];
  if (name === "cheapest") return [{ ...spec, gpu: undefined }, wishes];
  if (nodes > 1) wishes.nodes = nodes;
  return [{ ...spec, gpu: place(card ?? spec.gpu, gpus) }, wishes];
}

/// As `tidemark::merged` does: maps into maps, all else instead of what was there; null says that nothing is there.
export function merged(under, over) {
  const isMap = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
  if (!isMap(under) || !isMap(over)) return over;
  const all = { ...under };
  for (const [key, value] of Object.entries(over)) {
    if (value === null) delete all[key];
    else all[key] = merged(all[key], value);
  }
  return all;
}

/// The keys of an answer: those of the question, with what the answer changes.
export function answerSpec(spec, answer) {
  const { gpu, gpus, gpus_per_node: perNode } = answer.spec;
  const counts = { gpu, ...(gpus > 1 && { gpus }), ...(gpus > 1 && perNode !== gpus && { gpus_per_node: perNode }) };
  return merged(merged(spec, counts), answer.change);
}

/// The options that ask the command for the same plan, behind those of the training.
export function planOptions(wishes) {
  const words = [];
  for (const [key, value] of Object.entries(wishes)) {
    const option = `--${key.replaceAll("_", "-")}`;
    if (key === "cheapest") words.push(option, Object.keys(value).join(","), "--prices", "prices.json");
    else if (Array.isArray(value)) words.push(...value.flatMap((one) => [option, /[|*]/.test(one) ? `'${one}'` : one]));
    else words.push(option, value);
  }
  return words.join(" ");
}

/// prices.json of the command: of a card, however many there are.
export function pricesOf(cheapest, cards) {
  const known = new Set(cards.map((card) => card.key));
  return Object.fromEntries(Object.entries(cheapest).map(([name, price]) => [known.has(name) ? name : name.replace(/x\d+$/, ""), price]));
}
