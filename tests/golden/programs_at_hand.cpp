#include "programs_at_hand.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <span>

#include "base/error.h"
#include "estimate/program.h"
#include "io/program_text.h"

namespace tidemark {
namespace {

/// Whatever order its keys were written in.
Value sorted(const Value& value) {
  const Value::Map* map = value.as_map();
  if (!map) return value;
  Value::Map items = *map;
  for (Value::Item& item : items) item.value = sorted(item.value);
  std::sort(items.begin(), items.end(), [](const Value::Item& a, const Value::Item& b) { return a.key < b.key; });
  return Value(std::move(items));
}

/// The text of a family's program in the folder TIDEMARK_PROGRAMS, of values that the shipped one does not hold for.
const std::string* family_beside(const std::string& family) {
  static std::map<std::string, std::string> texts;
  const auto [at, is_new] = texts.try_emplace(family);
  const std::filesystem::path file = std::filesystem::path(TIDEMARK_PROGRAMS) / (family + ".family.gz");
  if (is_new && std::filesystem::exists(file)) at->second = unpack(file);
  return at->second.empty() ? nullptr : &at->second;
}

/// The shipped program if it holds, else the one beside the tests.
Program first_that_holds(const Spec& spec, const Value& config) {
  const std::string& family = model_type_of(config);
  const std::string* beside = family_beside(family);
  try {
    return shipped_program_of(spec, config);
  } catch (const Error& error) {
    if (error.code() != Errc::unsupported || !beside) throw;
    return io::read_family_text(*beside, family, config, family_use_of(spec, config));
  }
}

/// The programs of a family: what is shipped, or lies beside the tests, else what was captured of exactly that
/// configuration.
class ProgramsAtHand {
 public:
  ProgramsAtHand(const Spec& spec, const Value& config) {
    try {
      shipped_.push_back(first_that_holds(spec, config));
    } catch (const Error& error) {
      const bool is_other = error.code() == Errc::unsupported || error.code() == Errc::not_found;
      captured_ = is_other ? captured_of(config, spec.head) : nullptr;
      if (!captured_) throw;
    }
  }

  std::span<const Program> all() const { return captured_ ? std::span(captured_->programs) : std::span(shipped_); }

 private:
  std::vector<Program> shipped_;
  const Captured* captured_ = nullptr;
};

}  // namespace

AllCaptured::AllCaptured() {
  for (const auto& entry : std::filesystem::directory_iterator(TIDEMARK_PROGRAMS)) {
    const std::string file = entry.path().filename().string();
    if (!file.ends_with(".program.gz")) continue;
    try {
      add(io::read_program_text(unpack(entry.path()), file));
    } catch (const Error& error) {
      errors.push_back(error.where() + ": " + error.message());
    }
  }
}

void AllCaptured::add(Program program) {
  const auto same = std::find_if(models.begin(), models.end(), [&](const Captured& one) {
    return one.config == sorted(program.config) && one.programs[0].class_name == program.class_name;
  });
  Captured& to = same == models.end() ? models.emplace_back(Captured{sorted(program.config), {}}) : *same;
  to.programs.push_back(std::move(program));
}

const AllCaptured& all_captured() {
  static const AllCaptured all;
  return all;
}

const Captured* captured_of(const Value& config, const std::string& head) {
  for (const Captured& captured : all_captured().models) {
    const bool classifies = captured.programs[0].class_name.ends_with("ForSequenceClassification");
    if (captured.config == sorted(config) && classifies == (head == "sequence_classification")) return &captured;
  }
  return nullptr;
}

const std::string* shipped_of(const Spec& spec, const Value& config) {
  static std::map<std::string, std::string> texts;
  for (const std::string& name : program_names(model_type_of(config), spec.head, config)) {
    const auto [at, is_new] = texts.try_emplace(name);
    if (is_new) {
      std::ifstream file(std::filesystem::path(TIDEMARK_SHIPPED) / name);
      at->second = {std::istreambuf_iterator<char>(file), {}};
    }
    if (!at->second.empty()) return &at->second;
  }
  return nullptr;
}

Program shipped_program_of(const Spec& spec, const Value& config) {
  const std::string& family = model_type_of(config);
  const std::string* text = shipped_of(spec, config);
  if (!text) throw Error(Errc::not_found, "no program is shipped", family);
  return io::read_family_text(*text, family, config, family_use_of(spec, config));
}

Report predict_at_hand(const Spec& spec, const Value& config, const Card& card, PredictOptions options) {
  const ProgramsAtHand programs(spec, config);
  options.programs = programs.all();
  return predict(spec, config, card, options);
}

std::unique_ptr<Model> model_at_hand(const Value& config, const std::string& head) {
  Spec spec;
  spec.head = head;
  Value padded = config;  // without a token that pads it takes single samples, and has the same tree
  if (head == "sequence_classification" && !config.find("pad_token_id")) padded.set("pad_token_id", 0);
  static std::vector<std::unique_ptr<ProgramsAtHand>> kept;  // a model refers to its program
  const Program& program = kept.emplace_back(std::make_unique<ProgramsAtHand>(spec, padded))->all().front();
  return make_program_model(program, {}, Dtype::bf16, false, std::nullopt);
}

}  // namespace tidemark
