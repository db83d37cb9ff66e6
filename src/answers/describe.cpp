#include "answers/describe.h"

#include "answers/plan_wishes.h"
#include "estimate/category_timeline.h"
#include "estimate/method.h"
#include "estimate/predict.h"
#include "estimate/recorder.h"
#include "io/fields_schema.h"
#include "io/spec_schema.h"
#include "io/training_write.h"
#include "io/value_json.h"
#include "plan/decision.h"

namespace tidemark::answers {

Value described(const Data& data) {
  Value::List cards, programs, formats, categories, decisions, methods;
  for (const Card& card : data.cards)
    cards.push_back(Value::Map{{"key", card.key}, {"name", card.name}, {"total_bytes", card.total_bytes}});
  for (const std::string& name : data.programs.names) programs.emplace_back(name);
  for (const io::TrainingFormat& format : io::training_formats())
    if (format.write) formats.push_back(Value::Map{{"name", format.name}, {"title", format.title}});
  for (std::size_t i = 0; i < kCategories; ++i) categories.emplace_back(name_of(static_cast<Category>(i)));
  for (const plan::Decision& one : plan::decisions())
    decisions.push_back(Value::Map{{"name", one.name}, {"help", one.help}, {"same_training", one.same_training}});
  for (std::size_t i = 0; i < kMethodNames.size(); ++i)
    methods.push_back(Value::Map{{"name", kMethodNames[i]},
                                 {"keys", keys_of_method(static_cast<Method>(i))},
                                 {"text", text_of_method(static_cast<Method>(i), true)}});
  return Value::Map{{"version", data.version},
                    {"cards", std::move(cards)},
                    {"programs", std::move(programs)},
                    {"formats", std::move(formats)},
                    {"categories", std::move(categories)},
                    {"decisions", std::move(decisions)},
                    {"methods", std::move(methods)},
                    {"spec_schema", io::spec_schema()},
                    {"plan_schema", io::schema_of_fields(describe_fields<PlanWishes>())}};
}

}  // namespace tidemark::answers
