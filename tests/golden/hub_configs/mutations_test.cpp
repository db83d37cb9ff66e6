// Every key of a configuration removed, renamed, or given something else: an answer or an Error, and nothing else.
#include <functional>
#include <map>

#include "base/error.h"
#include "found_configs.h"

namespace tidemark {
namespace {

const Value::List& replacements() {
  static const Value::List kValues{Value(), false, -1, 7, std::int64_t{1} << 62, 0.5, "x", Value::List{}, Value::Map()};
  return kValues;
}

/// `config` with each of its keys changed in each way, those of maps in it too.
void visit_mutations(const Value& config, const std::function<void(const std::string& what, Value)>& visit) {
  const Value::Map& map = *config.as_map();
  for (std::size_t i = 0; i < map.size(); ++i) {
    const std::string& key = map[i].key;
    if (key == "model_type") continue;
    Value::Map without = map;
    without.erase(without.begin() + static_cast<std::ptrdiff_t>(i));
    visit("without " + key, without);
    Value::Map renamed = map;
    renamed[i].key += "_x";
    visit("renamed " + key, renamed);
    for (const Value& value : replacements()) {
      Value changed = config;
      changed.set(key, value);
      visit(key + " = " + value.quoted(), changed);
    }
    if (map[i].value.as_map() && (key.starts_with("rope") || key.ends_with("_config")))  // not names of labels
      visit_mutations(map[i].value, [&](const std::string& what, Value part) {
        Value changed = config;
        changed.set(key, std::move(part));
        visit(key + "." + what, changed);
      });
  }
}

/// One of each family, with all keys that it writes.
std::vector<Value> bases() {
  std::map<std::string, Value> by_type;
  for (const char* recording : {"hub.txt.gz", "spellings_5.txt.gz"})
    for (const Value& row : recorded_rows(recording)) {
      const Value& config = *row.find("config");
      if (recording[0] == 'h' || text_of(row, "name").ends_with("whole"))
        by_type.insert_or_assign(text_of(config, "model_type"), with_few_layers(config));
    }
  std::vector<Value> configs;
  for (auto& [type, config] : by_type) configs.push_back(std::move(config));
  return configs;
}

class Mutated : public testing::TestWithParam<Value> {};

TEST_P(Mutated, IsAnsweredOrAnErrorThatSaysWhere) {
  visit_mutations(GetParam(), [](const std::string& what, const Value& config) {
    try {
      const Report report = short_training(config);
      EXPECT_LE(report.peak.allocated_bytes, report.peak.reserved_bytes) << what;
    } catch (const Error& error) {
      EXPECT_FALSE(error.where().empty()) << what << ": " << error.message();
    } catch (const std::exception& bug) {
      ADD_FAILURE() << what << ": " << bug.what();
    }
  });
}

INSTANTIATE_TEST_SUITE_P(HubConfigs, Mutated, testing::ValuesIn(bases()),
                         [](const auto& config) { return text_of(config.param, "model_type"); });

}  // namespace
}  // namespace tidemark
