#include "io/training_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "io/value_json.h"
#include "io/value_toml.h"
#include "io/value_yaml.h"
#include "plan/plan.h"

namespace tidemark::io {
namespace {

constexpr std::size_t kMaxSettingsBytes = 1 << 20;

bool has_key(const Value& keys, std::string_view name) {
  return std::any_of(keys.as_map()->begin(), keys.as_map()->end(), [&](const Value::Item& item) {
    return item.key.size() == name.size() &&
           std::equal(item.key.begin(), item.key.end(), name.begin(),
                      [](char a, char b) { return a == b || (a == '-' && b == '_'); });
  });
}

std::string line_of(const std::vector<std::string>& unread) {
  return fmt::format("keys that are not read: {}", fmt::join(unread, ", "));
}

}  // namespace

const Value& TrainingDraft::model_config() {
  if (!model_config_) model_config_ = config && !files.has_model ? *config : files.model_config(model);
  return *model_config_;
}

void TrainingDraft::note_unread(const TrainingKeys& keys, std::string_view section) {
  for (const std::string& key : keys.unread()) unread.push_back(fmt::format("{}.{}", section, key));
}

void TrainingDraft::assume(std::string what) { assumptions.push_back(std::move(what)); }

std::ptrdiff_t sign_count(const TrainingFormat& format, const Value& keys) {
  return std::count_if(format.signs.begin(), format.signs.end(),
                       [&](std::string_view sign) { return has_key(keys, sign); });
}

const TrainingFormat* recognised_format(const Value& keys) {
  if (!keys.as_map()) return nullptr;
  const TrainingFormat *best = nullptr, *base = nullptr;
  std::ptrdiff_t most = 0;
  for (const TrainingFormat& format : training_formats()) {
    const std::ptrdiff_t count = sign_count(format, keys);
    if (format.is_base && count > 0) base = &format;
    if (!format.is_base && count > most) best = &format, most = count;
  }
  return best ? best : base;
}

TrainingConfig read_training_config(const TrainingFormat& format, const Value& keys, const std::string& where,
                                    const TrainingFiles& files) {
  TrainingKeys reader(keys, where);
  TrainingDraft draft(files);
  format.read(reader, draft);
  for (std::string& key : reader.unread()) draft.unread.push_back(std::move(key));
  if (!draft.unread.empty()) draft.assume(line_of(draft.unread));
  draft.spec.model = {};
  check_spec(draft.spec, where);
  return {.title = std::string(format.title),
          .model = draft.config && !files.has_model ? *draft.config : Value(draft.model),
          .spec = changes_of(Spec{}, draft.spec),
          .assumptions = std::move(draft.assumptions)};
}

Value value_of_training_file(std::string_view text, const std::string& where) {
  if (text.size() > kMaxSettingsBytes)
    throw Error(Errc::bad_file, "it is too large for the settings of a trainer", where);
  if (where.ends_with(".sh") || where.ends_with(".bash")) return value_of_shell_script(text, where);
  if (where.ends_with(".toml")) return value_from_toml(text, where);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool brace = first != std::string_view::npos && text[first] == '{';
  if (where.ends_with(".json") || (brace && !where.ends_with(".yaml") && !where.ends_with(".yml")))
    return value_from_python_json(text, where);
  Value value = value_from_yaml(text, where);
  return value.is_null() ? Value(Value::Map()) : value;
}

}  // namespace tidemark::io
