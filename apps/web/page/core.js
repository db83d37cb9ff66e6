// The C++ core: JSON in, JSON out.  What it refuses is thrown as a CoreError, in the words of the command.

export class CoreError extends Error {
  constructor({ message, where, hint, bug }) {
    super(where ? `${where}: ${message}` : message);
    this.hint = hint;
    this.bug = bug;
  }
}

function callable(module) {
  const lend = (text) => {
    const bytes = module.lengthBytesUTF8(text) + 1;
    const at = module._malloc(bytes);
    module.stringToUTF8(text, at, bytes);
    return at;
  };
  return (name, ...texts) => {
    const lent = texts.map(lend);
    const at = module[`_tidemark_${name}`](...lent);
    const answer = JSON.parse(module.UTF8ToString(at));
    for (const one of [at, ...lent]) module._free(one);
    if (answer.error) throw new CoreError(answer.error);
    return answer;
  };
}

/// `load` is what emscripten's tidemark.js defines, `wasmBinary` the bytes of tidemark.wasm, `programText` fetches a captured program
/// by its name, "5.17.0/granite".
export async function startCore(load, wasmBinary, programText) {
  const call = callable(await load({ wasmBinary }));
  const programs = new Map();

  async function asked(spec) {
    const { program: name } = call("program_needed", JSON.stringify({ spec }));
    if (name === null) return JSON.stringify({ spec });
    if (!programs.has(name)) programs.set(name, await programText(name));
    return JSON.stringify({ spec, program: { name, text: programs.get(name) } });
  }

  const description = call("describe");
  return {
    ...description,
    spec_schema: JSON.parse(description.spec_schema),
    /// The report as text, and the bytes of each category at each point of its timeline.
    predict: async (spec) => call("predict", await asked(spec)),
    predictRanks: async (spec) => call("predict_ranks", await asked(spec)),
    /// What `plan --write` writes for a trainer: a list of {path, text}.
    write: async (spec, format, path) => call("write", await asked(spec), format, path).files,
    /// Keys of a spec file as options of the command line.
    options: (keys) => call("options", JSON.stringify(keys)).options,
  };
}
