#include "plan_ray.h"

#include "active_python.h"
#include "base/error.h"
#include "files.h"
#include "io/value_json.h"
#include "process.h"
#include "resources.h"
#include "run_folder.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

/// As src/answers reads it.
Value question_of(const SharedSearch& search) {
  Value spec = write_fields(search.asked.spec);
  spec.set("model", search.asked.model_config);
  spec.set("gpu", search.place);
  Value question = Value::Map();
  if (const fs::path file = search.asked.spec.gpu; file.extension() == ".json") {  // a card that it describes
    question.append("card", io::value_from_json(read_file(file), file.string()));
    spec.set("gpu", file.string());
  }
  question.append("spec", std::move(spec));
  question.append("plan", write_fields(search.wishes));
  return question;
}

/// With its message as src/answers has it.
[[noreturn]] void throw_told(const Value& told) {
  const auto text = [&](const char* key) {
    const Value* value = told.find(key);
    return value && value->as_text() ? *value->as_text() : std::string();
  };
  Errc code = Errc::bad_value;
  for (const Errc one :
       {Errc::usage, Errc::unknown_name, Errc::bad_value, Errc::bad_file, Errc::not_found, Errc::unsupported, Errc::io})
    if (name_of(one) == text("code")) code = one;
  throw Error(code, text("message"), text("where"), text("hint"));
}

Value answer_of(const Value& questions) {
  Environment environment = Environment::of_this_process();
  const auto python = active_python(environment);
  if (!python)
    throw Error(Errc::not_found, "no Python is active", "--ray", "it is asked for ray; python -m pip install ray");
  const RunFolder folder(environment);
  const fs::path asked = folder.path() / "searches.json", told = folder.path() / "shares.json";
  write_file(asked, io::value_to_json(questions));
  environment.prepend("PYTHONPATH", find_resources().python.string());
  environment.set("TIDEMARK_BIN", fs::read_symlink("/proc/self/exe").string());
  const Finished done = run_helper(
      {python->interpreter.string(), "-m", "tidemark.shared_searches", asked.string(), told.string()}, environment);
  if (!fs::exists(told))
    throw Error(Errc::io, "the active Python ended with exit code " + std::to_string(done.exit_code), "--ray",
                done.errors);
  return io::value_from_json(read_file(told), told.string());
}

}  // namespace

void check_over_ray(const SpecOptions& options, const answers::PlanWishes& wishes) {
  for (const auto& [said, option] :
       {std::pair{&wishes.largest, "--largest"}, std::pair{&wishes.checkpointing_under, "--checkpointing-under"}})
    if (!said->empty())
      throw Error(
          Errc::usage,
          std::string("what ") + option + " asks next follows from the last answer: there is nothing to share out",
          "--ray", "leave it out");
  if (!options.programs.empty())
    throw Error(Errc::unsupported, "a program is given by a file that the nodes do not have", "--ray",
                "give the model's configuration");
}

std::vector<plan::Share> over_ray(const std::vector<SharedSearch>& searches) {
  Value::List questions;
  for (const SharedSearch& search : searches) questions.push_back(question_of(search));
  const Value answer = answer_of(std::move(questions));
  if (const Value* told = answer.find("error")) throw_told(*told);
  std::vector<plan::Share> shares;
  for (const Value& share : *answer.find("shares")->as_list()) read_fields(share, shares.emplace_back(), {"", "share"});
  return shares;
}

}  // namespace tidemark::cli
