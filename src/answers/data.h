// What answers need besides their questions: the files of data/, read once.
#pragma once
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "estimate/margin.h"
#include "io/card_json.h"
#include "plan/efficiency.h"

namespace tidemark::answers {

/// The captured programs of families: their names, "5.17.0/granite", and how to get the text of one.
struct Programs {
  std::vector<std::string> names;
  std::function<std::string(const std::string& name)> text;  // empty: a question brings the program that it needs
};

/// May be used by several threads at once.
struct Data {
  std::string version;  // Tidemark's own
  io::Catalogue cards;
  std::string device_memory;  // the text of device_memory.json
  std::vector<Residuals> residuals;
  plan::EfficiencyTable efficiency;
  Programs programs;
};

enum class ReadPrograms { when_asked, at_once };

/// The files of a folder that is laid out as data/.  With ReadPrograms::at_once no file is touched later on.  Throws
/// Error.
Data data_of_folder(const std::filesystem::path& folder, std::string_view version, ReadPrograms when);

}  // namespace tidemark::answers
