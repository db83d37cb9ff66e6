#include "io/hf_config.h"

#include "base/error.h"
#include "base/value_reader.h"
#include "io/value_json.h"

namespace tidemark::io {

Value read_hf_config(std::string_view text, const std::string& where) {
  Value config = value_from_python_json(text, where);
  check_hf_config(config, where);
  return config;
}

void check_hf_config(const Value& config, const std::string& where) {
  const auto refuse = [&](std::string message, std::string hint) {
    throw Error(Errc::bad_file, std::move(message), where, std::move(hint));
  };
  if (!config.as_map()) refuse("expected a map, found " + config.quoted(), "is it a model's config.json?");
  const Value* type = config.find("model_type");
  if (!type || !type->as_text() || type->as_text()->empty())
    refuse("\"model_type\" is missing", "is it a model's config.json?");
}

}  // namespace tidemark::io
