// tidemark plan: which configuration to run.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "answers/plan_wishes.h"
#include "base/did_you_mean.h"
#include "base/error.h"
#include "card_choice.h"
#include "commands.h"
#include "cudnn_asked.h"
#include "efficiencies.h"
#include "estimate/margin.h"
#include "files.h"
#include "io/plan_json.h"
#include "io/plan_text.h"
#include "io/value_json.h"
#include "plan_line.h"
#include "plan_ray.h"
#include "plan_write.h"
#include "resources.h"

namespace tidemark::cli {
namespace {

/// What was asked for, on one GPU or as the options share it out; the number of GPUs to plan for is kept apart.
struct Asking {
  SpecOptions options;  // of which --gpu names a card
  Asked asked;
  Place place;
  std::string place_text;  // as it was said
};

Asking read_asking(const PlanOptions& plan, const std::string& gpu, std::int64_t nodes) {
  Asking asking;
  SpecOptions options = plan.spec;
  take_spec_file(options);
  const bool has_file = !options.trainer.file.empty() || is_training_file(options.config);
  if (const LoopKind loop = loop_of_all(plan.wishes.trainers);
      !has_file && loop != LoopKind::plain && !options.said.find("loop"))
    options.said.set("loop", kLoopNames[static_cast<std::size_t>(loop)]);
  const Value file = options.file.empty() ? Value::Map() : spec_of_file(options.file);
  const std::string name = gpu.empty() ? answers::card_said({&options.said, &file}) : gpu;
  if (!name.empty()) {
    asking.place = place_of(name);
    asking.place_text = name;
    options.said.set("gpu", asking.place.card);
  }
  options.gpus = asking.place.gpus * nodes > 1 ? asking.place.gpus * nodes : 0;
  if (options.file.empty() && !has_file)
    options.said = merged(beginning_of_written(plan.writes, std::max<std::int64_t>(options.gpus, 1)), options.said);
  asking.asked = read_asked(options);
  asking.options = std::move(options);
  asking.place.gpus = std::max(asking.place.gpus * nodes, asking.asked.spec.gpus);
  return asking;
}

plan::Question question_of(const Asking& asking, const PlanOptions& options) {
  plan::Question question = answers::question_of(asking.asked.spec, asking.place.gpus, options.wishes);
  question.bounds.can_be_said =
      said_by_all(options.wishes.trainers, !options.writes.empty(), question.spec, asking.asked.model_config);
  return question;
}

plan::Engine engine_of(Asking& asking, const PlanOptions& options) {
  const Spec& spec = asking.asked.spec;
  const std::filesystem::path data = find_resources().data;
  const std::string link(kLinkNames[static_cast<std::size_t>(spec.link)]);
  Card card = choose_card(spec.gpu, spec.memory, data, link,
                          spec.windows);  // what is wrong with it is said before anything is captured
  capture_unknown(asking.asked);
  plan::Engine engine{.model_config = asking.asked.model_config,
                      .card = std::move(card),
                      .programs = asking.asked.programs_of,
                      .keep_margin = {}};
  engine.efficiency = load_efficiencies(data).of(engine.card.key);
  engine.ask_cudnn = cudnn_of(spec, engine.card);
  if (asking.place.gpus > 1) check_link(engine.card);
  if (!options.wishes.margin.empty())
    engine.keep_margin = [quantile = options.wishes.margin, data](Report& report) {
      keep_margin(report, quantile, {}, data);
    };
  return engine;
}

ReportCard card_for_text(const Card& card) {
  return {.key = card.key, .name = card.name, .total_bytes = card.total_bytes};
}

/// The command that says the same as the question and an answer's change.
std::string command_of(const SpecOptions& options, const plan::Planned& answer) {
  Value counts = Value::Map();
  if (answer.spec.gpus > 1) counts.append("gpus", answer.spec.gpus);
  if (answer.spec.gpus_per_node != answer.spec.gpus) counts.append("gpus_per_node", answer.spec.gpus_per_node);
  std::string files;
  for (const auto& [option, file] :
       {std::pair{" --spec ", &options.file}, std::pair{" --trainer ", &options.trainer.file},
        std::pair{" --accelerate ", &options.trainer.accelerate},
        std::pair{" --deepspeed ", &options.trainer.deepspeed}})
    if (!file->empty()) files += option + *file;
  for (const std::string& program : options.programs) files += " --program " + program;
  const std::string model = options.function.empty() ? options.config : "--from " + options.function;
  return fmt::format("tidemark predict {}{} {}\n", model, files,
                     io::options_of(merged(merged(options.said, counts), answer.change)));
}

int tell(const Asking& asking, const PlanOptions& options, const std::string& text, const plan::Plan& plan,
         const Card& card) {
  std::FILE* const to = options.json == "-" ? stderr : stdout;
  fmt::print(to, "{}", text);
  if (plan.answers.empty()) return plan::is_undecided(plan) ? 3 : 1;
  for (const std::string& assumption : asking.asked.assumptions) fmt::print(to, "  assumed: {}\n", assumption);
  fmt::print(to, "  the first, alone:\n    {}", command_of(asking.options, plan.answers.front()));
  const std::string* model = asking.asked.spec.model.as_text();
  for (const std::string& trainer : options.trainers_of_file)
    fmt::print(to, "{}", in_keys_of(trainer, asking.asked.spec, plan.answers.front().spec, asking.asked.model_config));
  fmt::print(to, "{}",
             write_answer(options.writes, plan.answers.front(), model ? *model : "", asking.asked.model_config, card));
  return 0;
}

int plan_goal(const PlanOptions& options) {
  Asking asking = read_asking(options, {}, options.wishes.nodes);
  plan::Question question = question_of(asking, options);
  const plan::Engine engine = engine_of(asking, options);
  if (options.ray) question.share = over_ray({{asking.asked, asking.place_text, options.wishes}}).front();
  const plan::Goal goal = answers::goal_of(options.wishes.goal, "--goal");
  PlanLine line(options.quiet);
  question.told = line.told();
  const plan::Plan found = plan::make_plan(question, goal, engine);
  line.clear();
  write_output(options.json, io::value_to_json(io::plan_value(found)));
  return tell(asking, options, io::plan_to_text(found, goal, card_for_text(engine.card), question.bounds), found,
              engine.card);
}

int plan_largest(const PlanOptions& options) {
  const plan::Size size = answers::size_of(options.wishes.largest, "--largest");
  Asking asking = read_asking(options, {}, options.wishes.nodes);
  plan::Question question = question_of(asking, options);
  const plan::Engine engine = engine_of(asking, options);
  PlanLine line(options.quiet);
  question.told = line.told();
  const plan::LargestPlan found = plan::largest(question, size, engine);
  line.clear();
  write_output(options.json, io::value_to_json(io::largest_value(found, size)));
  return tell(asking, options, io::largest_to_text(found, size, card_for_text(engine.card), question.bounds),
              found.plan, engine.card);
}

int plan_checkpointed(const PlanOptions& options) {
  const std::int64_t budget_bytes =
      answers::budget_bytes_of(options.wishes.checkpointing_under, "--checkpointing-under");
  answers::check_checkpointing_alone(options.wishes, "--checkpointing-under");
  Asking asking = read_asking(options, {}, options.wishes.nodes);
  const plan::Question question = question_of(asking, options);
  const plan::Engine engine = engine_of(asking, options);
  const plan::CheckpointingPlan found = plan::plan_checkpointing(question, budget_bytes, engine);
  write_output(options.json, io::value_to_json(io::checkpointing_value(found)));
  return tell(asking, options, io::checkpointing_to_text(found, card_for_text(engine.card), question.bounds),
              found.plan, engine.card);
}

/// Per hour and GPU, by the names of --cheapest.
double price_of(const Value& prices, const Place& place, const std::string& file) {
  if (const Value* price = prices.find(place.card)) return to_real(*price, {file, place.card});
  std::vector<std::string> known;
  for (const Value::Item& item : *prices.as_map()) known.push_back(item.key);
  throw Error(Errc::unknown_name, fmt::format("it has no price of {}", place.card), file,
              did_you_mean(place.card, known));
}

/// A question of --cheapest, and what its cards cost for an hour.
struct PricedAsking {
  double price;
  Asking asking;
  PlanOptions options;
};

int plan_cheapest(const PlanOptions& options) {
  if (options.prices.empty())
    throw Error(Errc::usage, "what does each card cost? --prices is missing", "--cheapest",
                R"(a JSON file such as {"h100-80gb": 2.5, "l40s": 0.9}: of one GPU for an hour)");
  const Value prices = io::value_from_json(read_file(options.prices), options.prices);
  if (!prices.as_map()) fail_expected("a map", prices, {options.prices, {}});
  std::vector<PricedAsking> asked;
  for (const std::string& text : options.cards) {
    const Place place = place_of(text);
    const std::int64_t nodes = options.wishes.nodes;
    const double price = price_of(prices, place, options.prices) * static_cast<double>(place.gpus * nodes);
    PricedAsking& one = asked.emplace_back(PricedAsking{price, read_asking(options, text, nodes), options});
    const Spec& spec = one.asking.asked.spec;
    one.options.wishes.answers = 1;
    if (one.options.wishes.samples == 0) one.options.wishes.samples = spec.batch * spec.grad_accumulation;
  }
  std::vector<SharedSearch> searches;
  for (const PricedAsking& one : asked)
    searches.push_back({one.asking.asked, one.asking.place_text, one.options.wishes});
  const std::vector<plan::Share> shares = options.ray ? over_ray(searches) : std::vector<plan::Share>();
  std::vector<io::PricedPlan> all;
  PlanLine line(options.quiet);
  for (PricedAsking& one : asked) {
    plan::Question question = question_of(one.asking, one.options);
    question.told = line.told(one.asking.place_text + ": ");
    if (options.ray) question.share = shares[all.size()];
    const plan::Engine engine = engine_of(one.asking, one.options);
    all.push_back({one.asking.place_text, one.price, plan::make_plan(question, plan::Goal::fastest, engine)});
  }
  line.clear();
  std::stable_sort(all.begin(), all.end(), io::is_cheaper);
  write_output(options.json, io::value_to_json(io::priced_value(all)));
  fmt::print(options.json == "-" ? stderr : stdout, "{}", io::priced_to_text(all));
  return all.front().plan.answers.empty() ? 1 : 0;
}

void add_plan_options(CLI::App* command, PlanOptions& options) {
  const std::string group = "Plan";
  command
      ->add_option("--goal", options.wishes.goal,
                   "What is best: fastest, least_memory, smallest_change, or pareto for every trade [fastest]")
      ->type_name("GOAL")
      ->group(group);
  command
      ->add_option("--largest", options.wishes.largest,
                   "Instead: the largest batch, seq, images or image_size that fits")
      ->type_name("SIZE")
      ->group(group);
  command
      ->add_option("--checkpointing-under", options.wishes.checkpointing_under,
                   "Instead: the layers to checkpoint, and the operators whose results to keep in them, that run least "
                   "again within this peak, such as 24GiB, or on the card")
      ->type_name("BYTES|card")
      ->group(group);
  command
      ->add_option("--cheapest", options.cards,
                   "Instead: which of these cards trains at the least cost, such as l40s,h100-80gbx8")
      ->type_name("CARDS")
      ->delimiter(',')
      ->group(group);
  command->add_option("--prices", options.prices, "JSON with what a GPU costs for an hour, by the names of --cheapest")
      ->type_name("FILE")
      ->group(group);
  command->add_option("--nodes", options.wishes.nodes, "Nodes of as many GPUs as --gpu says, such as h100-80gbx8 [1]")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 16).description(""))
      ->type_name("N")
      ->group(group);
  command
      ->add_option("--samples", options.wishes.samples,
                   "Samples per optimizer step, over all GPUs (default: what the options say)")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30).description(""))
      ->type_name("N")
      ->group(group);
  command->add_option("--fix", options.wishes.fix, "Decisions that stay as the options say (a,b or given twice)")
      ->type_name("NAMES")
      ->delimiter(',')
      ->group(group);
  command
      ->add_option("--allow", options.wishes.allow,
                   "A decision that changes what is learned, and its values: lora=8|64")
      ->type_name("NAME[=V|V]")
      ->delimiter(',')
      ->group(group);
  command
      ->add_option(
          "--trainers", options.wishes.trainers,
          "Trainers that the plan is for, such as trl: each configuration is what they make of it (those of --write are)")
      ->type_name("NAMES")
      ->delimiter(',')
      ->group(group);
  command
      ->add_option("--margin", options.wishes.margin,
                   "Keep a quantile of measured residuals free, such as p90 (default: nothing)")
      ->type_name("PXX")
      ->group(group);
  command->add_option("--answers", options.wishes.answers, "How many are shown, the best first [3]")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1000}).description(""))
      ->type_name("N")
      ->group(group);
  command
      ->add_flag(
          "--ray", options.ray,
          "Share the search out to the nodes of a Ray cluster: the one that RAY_ADDRESS names, else the one that is found, or started")
      ->group(group);
}

void add_output_options(CLI::App* command, PlanOptions& options) {
  command->add_flag("--quiet", options.quiet, "No lines on standard error about how far it is")->group("Output");
  command->add_option("--json", options.json, "Write the plan as JSON (- is stdout)")
      ->type_name("PATH")
      ->group("Output");
  command
      ->add_option(
          "--write", options.writes,
          "Write the first answer for a trainer: trainer, trl, llamafactory, swift, axolotl, torchtitan or python (again for more)")
      ->type_name("FORMAT=PATH")
      ->group("Output");
}

}  // namespace

void add_plan(CLI::App& app, PlanOptions& options) {
  CLI::App* command =
      app.add_subcommand("plan", "Find the configuration to run: the fastest that fits, the largest batch, …");
  command->footer(
      "Examples:\n  tidemark plan llama-3.1-8b/ --batch 8 --seq 4096 --gpu h100-80gbx8\n"
      "  tidemark plan llama-3.1-8b/ --seq 4096 --gpu rtx-4090 --allow lora --allow optimizer\n"
      "  tidemark plan llava-1.5-7b/ --images 1 --seq 1024 --gpu a100-80gb --largest batch --fix checkpointing\n"
      "  tidemark plan --vary batch=1..64 --gpu h100-80gb -- python train.py --batch {batch}");
  add_spec_options(*command, options.spec);
  add_plan_options(command, options);
  add_output_options(command, options);
  add_vary_options(*command);
}

void read_plan(const CLI::App& command, std::optional<std::vector<std::string>> program, PlanOptions& options) {
  if (command.count("--vary") > 0 && (!program || program->empty()))
    throw Error(
        Errc::usage, "a command is missing", "tidemark plan",
        "write it behind --, as in: tidemark plan --vary batch=1..64 --gpu h100-80gb -- python train.py {batch}");
  if (program) read_vary_options(command, std::move(*program), options.vary);
  options.vary.quiet = options.quiet;
  for (const std::string& trainer : trainers_of(options.writes)) options.wishes.trainers.push_back(trainer);
  const SpecOptions& asked = options.spec;
  const std::string& file =
      asked.trainer.file.empty() && is_training_file(asked.config) ? asked.config : asked.trainer.file;
  const io::TrainingFormat* format = format_of_training_file(file);
  if (!format || !format->write) return;
  options.trainers_of_file = {std::string(format->name)};
  if (options.wishes.trainers.empty()) options.wishes.trainers = options.trainers_of_file;
}

int plan(const PlanOptions& options) {
  if (!options.vary.command.empty()) return plan_vary(options.vary);
  if (!options.wishes.margin.empty()) parse_quantile(options.wishes.margin);
  if (options.json != "-") require_writable(options.json, "--json");
  check_writes(options.writes);
  if (!options.wishes.goal.empty() + !options.wishes.largest.empty() + !options.cards.empty() +
          !options.wishes.checkpointing_under.empty() >
      1)
    throw Error(Errc::usage, "--goal, --largest, --cheapest and --checkpointing-under are four questions",
                "tidemark plan", "ask one at a time");
  if (options.ray) check_over_ray(options.spec, options.wishes);
  if (!options.cards.empty()) return plan_cheapest(options);
  if (!options.wishes.largest.empty()) return plan_largest(options);
  if (!options.wishes.checkpointing_under.empty()) return plan_checkpointed(options);
  return plan_goal(options);
}

}  // namespace tidemark::cli
