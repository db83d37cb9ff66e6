// The C++ core: JSON in, JSON out.  What it refuses is thrown as a CoreError, in the words of the command.

export class CoreError extends Error {
  constructor(told) {
    const { message, where, hint, bug } = told;
    super(where ? `${where}: ${message}` : message);
    this.told = told;
    this.hint = hint;
    this.bug = bug;
  }
}

/// Calls the functions of a loaded module by name: texts go in, an object comes out; of `call.text`, the text of one.
export function callable(module) {
  const lend = (text) => {
    const bytes = module.lengthBytesUTF8(text) + 1;
    const at = module._malloc(bytes);
    module.stringToUTF8(text, at, bytes);
    return at;
  };
  const text = (name, ...texts) => {
    const lent = texts.map(lend);
    const at = module[`_tidemark_${name}`](...lent);
    const answer = module.UTF8ToString(at);
    for (const one of [at, ...lent]) module._free(one);
    if (answer.startsWith('{"error":')) throw new CoreError(JSON.parse(answer).error);
    return answer;
  };
  return Object.assign((name, ...texts) => JSON.parse(text(name, ...texts)), { text });
}

/// `load` is what emscripten's tidemark.js defines, `compiled` the WebAssembly.Module of tidemark.wasm.
export async function loadCompiled(load, compiled) {
  return load({
    instantiateWasm: (imports, take) => {
      WebAssembly.instantiate(compiled, imports).then((instance) => take(instance, compiled));
      return {};
    },
  });
}

/// `programText` fetches a captured program by its name, "5.17.0/granite".
export async function startCore(load, compiled, programText) {
  const call = callable(await loadCompiled(load, compiled));
  const programs = new Map();

  async function hold(name) {
    if (programs.has(name)) return;
    programs.set(name, await programText(name));
    call("hold_program", name, programs.get(name));
  }

  const missingProgram = (error) => (error.told?.code === "not_found" && /^[0-9.]+\//.test(error.told.where ?? "") ? error.told.where : null);

  /// What the core's function says of the question; it gets the programs that it asks for: the nearest release's, and that of another
  /// where this one does not hold.
  async function answered(spec, rest, work) {
    for (;;) {
      try {
        return work(JSON.stringify({ spec, ...rest }));
      } catch (error) {
        const missing = missingProgram(error);
        if (!missing || programs.has(missing)) throw error;
        await hold(missing);
      }
    }
  }

  /// What a core elsewhere says of the question: `ask` gets the question as a text, and the programs that it asked for so far.
  async function elsewhere(ask, spec, rest) {
    const brought = [];
    for (;;) {
      try {
        return await ask({ question: JSON.stringify({ spec, ...rest }), programs: brought });
      } catch (error) {
        const missing = missingProgram(error);
        if (!missing || brought.some(([name]) => name === missing)) throw error;
        await hold(missing);
        brought.push([missing, programs.get(missing)]);
      }
    }
  }

  /// For other cores, which hold none: with the program that answers; where none does, with the nearest, whose reason is the better one.
  async function complete(spec, rest = {}) {
    let name = null;
    try {
      name = await answered(spec, {}, (question) => call("program_that_answers", question).program);
    } catch (error) {
      if (!(error instanceof CoreError)) throw error;
    }
    name ??= call("program_needed", JSON.stringify({ spec })).program;
    return JSON.stringify({ spec, ...(name === null ? {} : { program: { name, text: programs.get(name) } }), ...rest });
  }

  const description = call("describe");
  const keysOf = new Map(description.methods.map(({ name, keys }) => [name, keys]));
  return {
    ...description,
    spec_schema: JSON.parse(description.spec_schema),
    /// The report as JSON, a text; so is that on all ranks.
    predict: (spec, margin) => answered(spec, margin ? { margin } : {}, (question) => call.text("predict", question)),
    /// The same without the changes that would make it fit, of which each is a prediction.
    predictAlone: (spec, margin) => answered(spec, margin ? { margin } : {}, (question) => call.text("predict_alone", question)),
    predictRanks: (spec) => answered(spec, {}, (question) => call.text("predict_ranks", question)),
    /// The question as a text for any core that is loaded of the same module: what takes long is not for the page's own.
    questionText: complete,
    /// Rows of methods and of cards, and changes (answers/verdicts.h), of a core that `ask` reaches.
    verdicts: elsewhere,
    /// What a method sets where the spec does not, and the keys of a spec with another one.
    keysOfMethod: (name) => keysOf.get(name) ?? {},
    withMethod: ({ model, ...keys }, name) => ({ ...(model === undefined ? {} : { model }), ...call("with_method", JSON.stringify(keys), name) }),
    /// What `plan --write` writes for a trainer: a list of {path, text}.
    write: async (spec, format, path) => (await answered(spec, {}, (question) => call("write", question, format, path))).files,
    /// Keys of a spec file as options of the command line.
    options: (keys) => call("options", JSON.stringify(keys)).options,
  };
}
