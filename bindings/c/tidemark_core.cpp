#include "tidemark_core.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "answers/error_answer.h"
#include "answers/topics.h"
#include "io/plan_json.h"
#include "io/value_json.h"

namespace {

using namespace tidemark;

char* copied(const std::string& text) {
  char* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

constexpr double kSecondsBetween = 0.05;

plan::Told told_by(tidemark_tell tell, void* context) {
  return plan::told_each(kSecondsBetween, [=](const plan::Progress& progress) {
    if (tell(context, io::value_to_json_line(io::progress_value(progress)).c_str()) != 0)
      throw Error(Errc::usage, "who asked has ended it", "plan");
  });
}

char* asked(void* opened, const char* topic, const char* question, int* is_good, const plan::Told& told) {
  try {
    const answers::Answer answer = answers::answer(topic, question, *static_cast<const answers::Data*>(opened), told);
    *is_good = answer.is_good();
    return copied(answer.text);
  } catch (const std::exception&) {  // no memory
    return nullptr;
  }
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) int tidemark_core_interface() { return TIDEMARK_CORE_INTERFACE; }

__attribute__((visibility("default"))) void* tidemark_open(const char* folder, char** error) {
  try {
    return new answers::Data(answers::data_of_folder(folder, TIDEMARK_VERSION, answers::ReadPrograms::when_asked));
  } catch (const Error& what) {
    *error = copied(io::value_to_json_line(answers::error_value(what)));
  } catch (const std::exception& what) {
    *error = copied(io::value_to_json_line(answers::error_value_of_bug(what.what())));
  }
  return nullptr;
}

__attribute__((visibility("default"))) char* tidemark_ask(void* opened, const char* topic, const char* question,
                                                          int* is_good) {
  return asked(opened, topic, question, is_good, {});
}

__attribute__((visibility("default"))) char* tidemark_ask_and_be_told(void* opened, const char* topic,
                                                                      const char* question, int* is_good,
                                                                      tidemark_tell tell, void* context) {
  return asked(opened, topic, question, is_good, told_by(tell, context));
}

__attribute__((visibility("default"))) void tidemark_free(char* text) { std::free(text); }

}  // extern "C"
