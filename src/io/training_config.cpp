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

std::ptrdiff_t count_keys(const Value& keys, const std::vector<std::string_view>& names) {
  return std::count_if(names.begin(), names.end(), [&](std::string_view name) { return has_key(keys, name); });
}

std::string line_of(const std::vector<std::string>& unread) {
  return fmt::format("keys that are not read: {}", fmt::join(unread, ", "));
}

/// A window that is shorter than the samples: FlashAttention takes it as a number, SDPA as a mask.
bool has_window_mask(const Value& config, std::int64_t seq) {
  const Value* text = config.find("text_config");
  const Value& part = text && text->as_map() ? *text : config;
  const Value *window = part.find("sliding_window"), *used = part.find("use_sliding_window"),
              *layers = part.find("layer_types");
  if (!window || !window->as_integer() || (used && *used == Value(false))) return false;
  const Value::List* types = layers ? layers->as_list() : nullptr;
  const bool is_used = !types || std::find(types->begin(), types->end(), Value("sliding_attention")) != types->end();
  return is_used && *window->as_integer() > 0 && *window->as_integer() <= seq;
}

/// transformers: integrations/flash_attention.py and sdpa_attention.py (5.24.0) call kernels of the same shapes.
void check_flash_attention(TrainingKeys& keys, TrainingDraft& draft) {
  if (draft.flash_attention.empty()) return;
  if (has_window_mask(draft.model_config(), draft.spec.seq))
    keys.refuse(
        draft.flash_attention,
        "FlashAttention with a window that is shorter than the samples is not predicted: SDPA has a mask for it",
        {"sdpa", Takes::more});
  draft.assume(draft.flash_attention +
               ": FlashAttention is taken for SDPA's flash kernel, which keeps the same tensors");
}

/// Whether the file names its model by the key of another format.
bool is_excluded(const TrainingFormat& format, const Value& keys) {
  if (format.model_key.empty() || has_key(keys, format.model_key)) return false;
  return std::any_of(training_formats().begin(), training_formats().end(), [&](const TrainingFormat& other) {
    return !other.model_key.empty() && other.model_key != format.model_key && has_key(keys, other.model_key);
  });
}

/// "swift" and "llamafactory-cli" start a trainer of one format.
const TrainingFormat* format_of_command(const Value& keys) {
  const Value* launcher = keys.find("launcher");
  const Value* name = launcher && launcher->as_map() ? launcher->find("name") : nullptr;
  if (!name || !name->as_text()) return nullptr;
  const auto found = std::find_if(training_formats().begin(), training_formats().end(), [&](const auto& format) {
    return format.read && (*name->as_text() == format.name || *name->as_text() == std::string(format.name) + "-cli");
  });
  return found == training_formats().end() ? nullptr : &*found;
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

void TrainingDraft::take_length(std::string_view key, std::int64_t tokens) {
  const Value* said = files.said.find("seq");
  const std::int64_t asked = said ? lenient_integer(*said).value_or(0) : 0;
  spec.seq = asked > 0 ? asked : tokens;
  assume(asked > 0    ? fmt::format("every sample has {} tokens (--seq)", asked)
         : tokens > 0 ? fmt::format("every sample has {} tokens, {}", key, tokens)
                      : fmt::format("every sample is as long as the model takes: the file has no {}", key));
}

std::ptrdiff_t sign_count(const TrainingFormat& format, const Value& keys) { return count_keys(keys, format.signs); }

const TrainingFormat* recognised_format(const Value& keys) {
  if (!keys.as_map()) return nullptr;
  if (const TrainingFormat* format = format_of_command(keys)) return format;
  const TrainingFormat *best = nullptr, *base = nullptr;
  std::ptrdiff_t most = 0;
  for (const TrainingFormat& format : training_formats()) {
    const std::ptrdiff_t count = is_excluded(format, keys) ? 0 : sign_count(format, keys);
    if (format.is_base && count > 0) base = &format;
    const std::ptrdiff_t own = format.is_base ? count_keys(keys, format.own_signs) : count;
    if (own > most) best = &format, most = own;
  }
  return best ? best : base;
}

TrainingConfig read_training_config(const TrainingFormat& format, const Value& keys, const std::string& where,
                                    const TrainingFiles& files) {
  Refusals refusals;
  TrainingKeys reader(keys, where, refusals);
  TrainingDraft draft(files, refusals);
  format.read(reader, draft);
  check_flash_attention(reader, draft);
  if (files.nearest)
    for (std::string& taken : refusals.take_nearest(where)) draft.assume(std::move(taken));
  refusals.check(where);
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
