#include "estimate/trained_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "base/did_you_mean.h"
#include "base/error.h"
#include "nn/layers.h"

namespace tidemark {
namespace {

/// Whether the name contains a or b, for the pattern "a|b".
bool contains(const std::string& name, const std::string& pattern) {
  for (std::size_t begin = 0; begin <= pattern.size();) {
    const std::size_t end = std::min(pattern.find('|', begin), pattern.size());
    if (end > begin && name.find(std::string_view(pattern).substr(begin, end - begin)) != name.npos) return true;
    begin = end + 1;
  }
  return false;
}

bool contains_any(const std::string& name, const std::vector<std::string>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return contains(name, pattern); });
}

struct HowMany {
  int parameters = 0, frozen = 0;
};

/// Marks the modules of which all parameters have such names.
HowMany mark_frozen(Module& module, const std::vector<std::string>& names) {
  HowMany here;
  for (const auto& parameter : module.parameters()) {
    here.parameters += parameter->is_buffer ? 0 : 1;
    here.frozen += !parameter->is_buffer && contains_any(full_name(module, *parameter), names) ? 1 : 0;
  }
  for (const auto& child : module.children()) {
    const HowMany below = mark_frozen(*child, names);
    here.parameters += below.parameters;
    here.frozen += below.frozen;
  }
  module.is_frozen = here.parameters > 0 && here.parameters == here.frozen;
  return here;
}

/// Words between the dots of names, without numbers of layers.
std::set<std::string> words_of(const std::vector<std::string>& names) {
  std::set<std::string> words;
  for (const std::string& name : names)
    for (std::size_t begin = 0; begin < name.size();) {
      const std::size_t end = std::min(name.find('.', begin), name.size());
      std::string word = name.substr(begin, end - begin);
      if (word.find_first_not_of("0123456789") != std::string::npos) words.insert(std::move(word));
      begin = end + 1;
    }
  return words;
}

/// Error{unknown_name}, or a note, for names that nothing of the model has.
class NameCheck {
 public:
  NameCheck(std::vector<std::string> known, const Spec& spec, Recorder& recorder)
      : known_(std::move(known)), is_lenient_(spec.lenient_names), recorder_(recorder) {}

  using Matches = bool (*)(const std::string& known, const std::string& name);

  /// `offered`: of the known names, the words that may be meant.
  template <class Offered>
  void check(const std::vector<std::string>& names, const char* option, Matches matches, const Offered& offered) {
    for (const std::string& name : names) {
      if (std::any_of(known_.begin(), known_.end(), [&](const std::string& one) { return matches(one, name); }))
        continue;
      if (is_lenient_) {
        recorder_.assume_first(
            fmt::format("{}: nothing in the model is called {}, which is passed over", option, name));
        continue;
      }
      const std::set<std::string> distinct = offered(known_);
      const std::vector<std::string> words(distinct.begin(), distinct.end());
      std::string hint = did_you_mean(name, words);
      if (hint.empty()) hint = fmt::format("it has {}", fmt::join(words, ", "));
      throw Error(Errc::unknown_name, fmt::format("nothing in the model is called {}", name), option, std::move(hint));
    }
  }

 private:
  std::vector<std::string> known_;
  bool is_lenient_;
  Recorder& recorder_;
};

void add_module_names(Module& module, std::vector<std::string>& names) {
  names.push_back(module.full_name());
  for (const auto& child : module.children()) add_module_names(*child, names);
}

/// Last words of the names of linear modules.
void add_linear_words(Module& module, std::set<std::string>& words) {
  if (linear_shape(module)) words.insert(std::string(module.name()));
  for (const auto& child : module.children()) add_linear_words(*child, words);
}

/// PEFT's targets, else all linear modules; of experts that are stacked parameters, which have no adapters here, none.
void choose_targets(LoraOptions& options, Module& root, const std::string& model_type, Recorder& recorder) {
  if (auto targets = default_lora_targets(model_type)) {
    options.target_modules = std::move(*targets);
    return;
  }
  if (options.expert_names.empty() || !has_stacked_experts(root)) {
    options.target_modules = std::string("all-linear");
    recorder.assume_first(fmt::format(
        "adapters go beside all linear modules (--lora-target-modules): PEFT chooses none for {} itself", model_type));
    return;
  }
  options.target_modules = std::vector<std::string>{"q_proj", "k_proj", "v_proj", "o_proj"};
  recorder.assume_first(
      fmt::format("adapters go beside q_proj, k_proj, v_proj and o_proj (--lora-target-modules): PEFT chooses none for "
                  "{} itself",
                  model_type));
}

}  // namespace

void freeze(Module& root, const Spec& spec, Recorder& recorder) {
  if (spec.freeze.empty() && spec.train_only.empty()) return;  // all train, as they were made
  std::vector<std::string> names;
  visit_parameters(root, [&](const Module& module, Parameter& parameter) {
    const std::string name = names.emplace_back(full_name(module, parameter));
    bool trains = spec.train_only.empty() || contains_any(name, spec.train_only);
    if (contains_any(name, spec.freeze)) trains = false;
    parameter.trains = trains;
    if (parameter.tensor) parameter.tensor.impl().requires_grad = trains;
  });
  NameCheck known(std::move(names), spec, recorder);
  known.check(spec.freeze, "freeze", contains, words_of);
  known.check(spec.train_only, "train_only", contains, words_of);
  if (!spec.freeze.empty()) mark_frozen(root, spec.freeze);
}

LoraOptions lora_options(const Spec& spec, Module& root, const std::string& model_type, Recorder& recorder,
                         bool by_engine) {
  const LoraSpec& lora = *spec.lora;
  LoraOptions options{.r = lora.r,
                      .dropout = lora.dropout,
                      .use_dora = lora.use_dora,
                      .target_modules = lora.target_modules,
                      .adapter_dtype = {}};
  options.expert_names = converted_expert_names(model_type);
  if (const auto* pattern = std::get_if<std::string>(&lora.target_modules); pattern && pattern->empty())
    choose_targets(options, root, model_type, recorder);
  else if (!pattern) {
    std::vector<std::string> names;
    add_module_names(root, names);
    const auto linear = [&](const std::vector<std::string>&) {
      std::set<std::string> words;
      add_linear_words(root, words);
      return words;
    };
    NameCheck(std::move(names), spec, recorder)
        .check(std::get<std::vector<std::string>>(lora.target_modules), "lora.target_modules", is_target, linear);
  }
  switch (lora.adapter_dtype) {
    case AdapterDtype::automatic: break;
    case AdapterDtype::fp32: options.adapter_dtype = Dtype::f32; break;
    case AdapterDtype::bf16: options.adapter_dtype = Dtype::bf16; break;
    case AdapterDtype::fp16: options.adapter_dtype = Dtype::f16; break;
  }
  if (by_engine) options.adapter_dtype = Dtype::bf16;
  return options;
}

}  // namespace tidemark
