#include "answers/plan_answer.h"

#include <algorithm>

#include "answers/cudnn_elsewhere.h"
#include "answers/plan_wishes.h"
#include "estimate/margin.h"
#include "io/plan_json.h"
#include "io/plan_text.h"

namespace tidemark::answers {
namespace {

/// A question, the GPUs that it is about, and the engine that answers.
struct Asking {
  Question question;
  std::int64_t gpus = 1;
  plan::Engine engine;
};

Value with_card(Value asked, const Place& place) {
  const Value* spec = asked.find("spec");
  Value keys = spec ? *spec : Value(Value::Map());
  keys.set("gpu", place.card);
  if (const std::int64_t split = gpus_of_one_copy(keys); place.gpus > 1 && split > 1 && !keys.find("gpus"))
    keys.set("gpus", split);
  asked.set("spec", std::move(keys));
  return asked;
}

Asking read_asking(const Value& asked, const std::string& card, const PlanWishes& wishes, const Data& data,
                   const AskCudnn& ask_cudnn) {
  const Place place = place_of(card, data.cards);
  Asking asking{
      .question = read_question(card.empty() ? asked : with_card(asked, place), data), .gpus = 1, .engine = {}};
  Question& question = asking.question;
  asking.gpus = std::max(place.gpus * wishes.nodes, question.spec.gpus);
  asking.engine.model_config = question.model_config;
  asking.engine.card = question.card;
  asking.engine.programs = question.programs_of;
  asking.engine.ask_cudnn = ask_cudnn;
  asking.engine.efficiency = data.efficiency.of(question.card.key);
  if (asking.gpus > 1)
    communicator_bytes(question.card.beside.nccl, question.card.link.kind, 2, false);  // throws where that is not known
  if (!wishes.margin.empty())
    asking.engine.keep_margin = [&data, quantile = wishes.margin](Report& report) {
      add_margin(report, data.residuals, quantile, {});
    };
  return asking;
}

ReportCard card_for_text(const Card& card) {
  return {.key = card.key, .name = card.name, .total_bytes = card.total_bytes};
}

plan::Share share_of(const Value& said) {
  plan::Share share;
  read_fields(said, share, {"", "share"});
  return share;
}

PlanAnswer cheapest(const Value& asked, const PlanWishes& wishes, const Data& data, const AskCudnn& ask_cudnn,
                    const plan::Told& told) {
  std::vector<io::PricedPlan> all;
  for (const auto& [name, price] : wishes.cheapest) {
    const Asking asking = read_asking(asked, name, wishes, data, ask_cudnn);
    PlanWishes one = wishes;
    one.answers = 1;
    const Spec& spec = asking.question.spec;
    if (one.samples == 0) one.samples = spec.batch * spec.grad_accumulation;
    plan::Question question = question_of(spec, asking.gpus, one);
    question.told = told;
    const Value* shares = asked.find("shares");
    if (const Value* said = shares ? shares->find(name) : nullptr) question.share = share_of(*said);
    const auto gpus = static_cast<double>(place_of(name, data.cards).gpus * wishes.nodes);
    all.push_back({name, price * gpus, plan::make_plan(question, plan::Goal::fastest, asking.engine)});
  }
  std::stable_sort(all.begin(), all.end(), io::is_cheaper);
  return {io::priced_value(all), io::priced_to_text(all), 0};
}

PlanWishes read_wishes(const Value& asked) {
  PlanWishes wishes;
  if (const Value* said = asked.find("plan")) read_fields(*said, wishes, {"", "plan"});
  check_one_question(wishes);
  if (!wishes.margin.empty()) parse_quantile(wishes.margin);
  return wishes;
}

/// What is asked of one kind of card.
PlanAnswer planned_for_card(const Value& asked, const PlanWishes& wishes, const Data& data, const AskCudnn& ask_cudnn,
                            const plan::Told& told) {
  const Value* spec = asked.find("spec");
  const Asking asking = read_asking(asked, spec ? card_said({spec}) : "", wishes, data, ask_cudnn);
  if (!wishes.checkpointing_under.empty()) check_checkpointing_alone(wishes, "checkpointing_under");
  plan::Question question = question_of(asking.question.spec, asking.gpus, wishes);
  question.told = told;
  if (const Value* said = asked.find("share")) question.share = share_of(*said);
  const ReportCard card = card_for_text(asking.engine.card);
  if (!wishes.largest.empty()) {
    const plan::Size size = size_of(wishes.largest, "largest");
    const plan::LargestPlan found = plan::largest(question, size, asking.engine);
    return {io::largest_value(found, size), io::largest_to_text(found, size, card, question.bounds), card.total_bytes};
  }
  if (!wishes.checkpointing_under.empty()) {
    const plan::CheckpointingPlan found = plan::plan_checkpointing(
        question, budget_bytes_of(wishes.checkpointing_under, "checkpointing_under"), asking.engine);
    return {io::checkpointing_value(found), io::checkpointing_to_text(found, card, question.bounds), card.total_bytes};
  }
  const plan::Goal goal = goal_of(wishes.goal, "goal");
  const plan::Plan found = plan::make_plan(question, goal, asking.engine);
  return {io::plan_value(found), io::plan_to_text(found, goal, card, question.bounds), card.total_bytes};
}

}  // namespace

PlanAnswer planned(const Value& asked, const Data& data, const plan::Told& told) {
  const PlanWishes wishes = read_wishes(asked);
  CudnnElsewhere cudnn;
  try {
    PlanAnswer answer = (wishes.cheapest.empty() ? planned_for_card : cheapest)(asked, wishes, data, cudnn.ask(), told);
    answer.wants_cudnn = cudnn.was_asked();
    return answer;
  } catch (const Error& error) {
    if (cudnn.was_asked()) throw NotCaptured(error);
    throw;
  }
}

}  // namespace tidemark::answers
