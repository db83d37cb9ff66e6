// The parameters and buffers of each published configuration equal those of transformers by name, sizes and type; or it
// is refused as refused.txt lists.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "answers/family_programs.h"
#include "base/error.h"
#include "estimate/predict.h"
#include "estimate/program.h"
#include "estimate/reference_config.h"
#include "program/model.h"
#include "recorded_models.h"

namespace tidemark {
namespace {

namespace fs = std::filesystem;
using Rows = std::set<std::string>;

constexpr std::int64_t kAudioSamples = 80000;

const std::vector<std::string>& shipped_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(TIDEMARK_SHIPPED))
      if (entry.is_regular_file()) found.push_back(entry.path().lexically_relative(TIDEMARK_SHIPPED).string());
    return found;
  }();
  return names;
}

std::string text_of_file(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

answers::ProgramsOf programs_of(const Spec& spec, const Value& config) {
  std::vector<answers::TextOf> texts;
  for (const std::string& name : programs_that_may_answer(spec, config, shipped_names()))
    texts.emplace_back([name] { return answers::FamilyText{name, text_of_file(fs::path(TIDEMARK_SHIPPED) / name)}; });
  return answers::programs_of_families(std::move(texts), config);
}

void add_rows(Module& module, Rows& rows) {
  const std::string prefix = module.full_name().empty() ? "" : module.full_name() + ".";
  for (const auto& one : module.parameters())
    if (one->is_buffer)
      rows.insert(fmt::format("buffer {}{} {} {}", prefix, one->name,
                              fmt::join(one->sizes.begin(), one->sizes.end(), "x"), name_of(one->dtype)));
  for (const auto& child : module.children()) add_rows(*child, rows);
}

Rows rows_of(Model& model) {
  Rows rows;
  visit_parameters(model.root, [&](const Module& module, const Parameter& one) {
    rows.insert(fmt::format("parameter {} {} {}", full_name(module, one),
                            fmt::join(one.sizes.begin(), one.sizes.end(), "x"), name_of(one.dtype)));
  });
  add_rows(model.root, rows);
  return rows;
}

/// Questions for a training: of text, with images; of raw audio where neither is answered.
std::vector<Spec> specs_of(const std::string& release) {
  constexpr std::int64_t kTokens = 4096;
  Spec text;
  text.transformers = release;
  Spec images = text, audio = text;
  images.images = 1;
  images.seq = kTokens;
  audio.seq = kAudioSamples;
  return {text, images, audio};
}

/// Reasons of refused.txt by "RELEASE NAME"; a line is "RELEASE NAME: reason".
const std::map<std::string, std::string>& refused_reasons() {
  static const std::map<std::string, std::string> reasons = [] {
    std::ifstream file(fs::path(TIDEMARK_RECORDINGS) / "refused.txt");
    std::map<std::string, std::string> by_model;
    for (std::string line; std::getline(file, line);) {
      const std::size_t end = line.find(": ");
      by_model[line.substr(0, end)] = line.substr(end + 2);
    }
    return by_model;
  }();
  return reasons;
}

/// The reason for which refused.txt lists a model; empty for one that is answered.
std::string refused_reason(const RecordedModel& recorded) {
  const auto found = refused_reasons().find(recorded.release + " " + recorded.name);
  return found == refused_reasons().end() ? "" : found->second;
}

std::string listed(const Rows& rows, const Rows& others) {
  constexpr std::size_t kShown = 6;
  std::string text;
  std::size_t count = 0;
  for (const std::string& row : rows)
    if (!others.contains(row) && ++count <= kShown) text += "  " + row + "\n";
  return count > kShown ? fmt::format("{}  and {} more\n", text, count - kShown) : text;
}

class Published : public testing::TestWithParam<std::shared_ptr<const RecordedModel>> {};

TEST_P(Published, HasTheTensorsOfTransformers) {
  const RecordedModel& recorded = *GetParam();
  const Value config = as_transformers_reads(recorded.config).config;
  std::string refusal;
  bool is_answered = false;
  for (const Spec& spec : specs_of(recorded.release)) {
    if (is_answered && spec.seq == kAudioSamples) break;
    std::unique_ptr<Model> model;
    answers::SharedPrograms programs;
    try {
      programs = programs_of(spec, config)(spec);
      model = make_program_model(programs->front(), context_of(spec, config), Dtype::bf16, true);
    } catch (const Error& error) {
      if (refusal.find(error.message()) == std::string::npos)
        refusal += (refusal.empty() ? "" : " | ") + error.message();
      continue;
    }
    is_answered = true;
    EXPECT_EQ(model->root.class_name, recorded.class_name);
    Rows theirs;
    for (const std::string& line : recorded.lines) unfold(line, theirs);
    const Rows ours = rows_of(*model);
    EXPECT_TRUE(ours == theirs) << "transformers has:\n"
                                << listed(theirs, ours) << "ours has:\n"
                                << listed(ours, theirs);
  }
  EXPECT_EQ(is_answered ? "" : refusal, refused_reason(recorded)) << recorded.release << " " << recorded.name;
}

std::vector<std::shared_ptr<const RecordedModel>> built_models() {
  std::vector<std::shared_ptr<const RecordedModel>> built;
  for (RecordedModel& model : recorded_models(recordings_folder(TIDEMARK_RECORDINGS)))
    if (model.raises.empty()) built.push_back(std::make_shared<const RecordedModel>(std::move(model)));
  return built;
}

std::string test_name(const testing::TestParamInfo<std::shared_ptr<const RecordedModel>>& info) {
  std::string name = info.param->name + "_" + info.param->release;
  std::replace_if(name.begin(), name.end(), [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Releases, Published, testing::ValuesIn(built_models()), test_name);

}  // namespace
}  // namespace tidemark
