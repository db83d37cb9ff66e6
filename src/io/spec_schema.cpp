#include "io/spec_schema.h"

#include "estimate/spec.h"
#include "io/fields_schema.h"
#include "io/value_json.h"

namespace tidemark::io {

std::string spec_schema() {
  Value schema = Value::Map{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                            {"title", "What tidemark predict is asked (--spec)"}};
  return value_to_json(merged(std::move(schema), schema_of_fields(describe_fields<Spec>())));
}

std::string spec_page() {
  return "# The spec file\n\n"
         "`tidemark predict --spec FILE` reads YAML or JSON with these keys; every one is an option of the command "
         "line too, with\n"
         "dashes for underscores and dots (`lora.r` is `--lora-r`), and the option wins. A key that is not listed is "
         "an error.\n"
         "Relative paths in a file are meant from its folder. As JSON Schema: [spec.schema.json](spec.schema.json).\n"
         "This page is made from the fields of `Spec` (`src/estimate/spec.h`).\n" +
         table_of_fields(describe_fields<Spec>());
}

}  // namespace tidemark::io
