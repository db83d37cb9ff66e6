#include "io/measurement_schema.h"

#include "io/fields_schema.h"
#include "io/value_json.h"
#include "validate/corpus.h"
#include "validate/estimates.h"

namespace tidemark::io {
namespace {

/// null stands for what is not known, whatever the field.
Value with_unknown(const Value& schema) {
  Value properties = Value::Map();
  for (const Value::Item& item : *schema.find("properties")->as_map()) {
    if (item.value.find("anyOf")) {
      properties.append(item.key, item.value);
      continue;
    }
    Value either = Value::List{item.value, Value::Map{{"type", "null"}}};
    properties.append(item.key, Value::Map{{"anyOf", std::move(either)}});
  }
  Value result = schema;
  result.set("properties", std::move(properties));
  return result;
}

constexpr const char* kHead = R"(# Measured trainings

`tidemark validate` reads corpora: folders with `corpus.json`, `rows.jsonl` (one measured training a line) and, if there are answers of
`tidemark run` that are kept, `predictions.jsonl`, and of others that were asked, `estimates.jsonl`. null, and a key that is not there, stand for what is not known; a key that is not listed is an
error. Paths are meant from the corpus's folder. Every row says for each engine how it is asked, or why it cannot be; a row that no engine can be
asked says so in `left_out`.

The error of a row is (predicted - measured) / measured, and 0 where the prediction lies within `rounding_bytes`. A run that ended out of memory has no
peak: for it the verdict alone counts. As JSON Schema: [measurements.schema.json](measurements.schema.json); what comes out:
[validation.schema.json](validation.schema.json). This page is made from the fields of `src/validate`.

# rows.jsonl
)";

constexpr const char* kTable = R"(
# A table of your own

A `.csv` file is a corpus too. Its first line names the columns, an empty cell says nothing:

| column | |
| --- | --- |
| `measured_bytes`, `measured_mib` or `measured_gib` | the peak; of the latter two half of the last digit that is written is the rounding |
| `metric`, `gpu`, `memory_bytes`, `out_of_memory`, `id`, `source`, `family`, `modality`, `method`, `rounding_bytes` | as in a row |
| `model`, `batch`, `seq`, `lora.r`, ... | [keys of a spec](spec.md), for `predict`; `gpus` and `rank` say which of many was measured |
| `spec` | a spec file, under the keys of the line |
| `command` | `train.py --batch 3`: the program and its arguments, for `run`; `"a word"` with spaces stands between quotes |
| `environment` | the name of a Python, for `--python NAME=PATH` |
)";

}  // namespace

std::string measurement_schema() {
  Value definitions = Value::Map{{"corpus", schema_of_fields(describe_fields<CorpusInfo>())},
                                 {"row", with_unknown(schema_of_fields(describe_fields<Measurement>()))},
                                 {"prediction", with_unknown(schema_of_fields(describe_fields<Answer>()))},
                                 {"estimate", with_unknown(schema_of_fields(describe_fields<Estimate>()))}};
  return value_to_json(Value::Map{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                                  {"title", "The files of a corpus of tidemark validate"},
                                  {"$defs", std::move(definitions)}});
}

std::string measurement_page() {
  return kHead + table_of_fields(describe_fields<Measurement>()) + "\n# Files beside the rows\n" +
         table_of_fields(describe_fields<CorpusInfo>()) + table_of_fields(describe_fields<Answer>()) +
         table_of_fields(describe_fields<Estimate>()) + kTable;
}

}  // namespace tidemark::io
