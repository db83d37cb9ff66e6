// The options that say what is trained, made from the fields of Spec; `predict` and `explain` share them.
#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "answers/family_programs.h"
#include "base/value.h"
#include "estimate/spec.h"
#include "training_file.h"

namespace CLI {
class App;
}

namespace tidemark::cli {

struct SpecOptions {
  std::string config;                 // CONFIG, or empty
  std::string file;                   // --spec
  std::vector<std::string> programs;  // --program
  std::string function;               // --from
  TrainingFileOptions trainer;        // --trainer and what goes with it; or CONFIG is a trainer's file
  std::int64_t gpus = 0;              // that were asked for otherwise, as by `plan --gpu NAMExN`; 0: none were
  bool offline = false;
  Value said = Value::Map();  // by the other options, with the keys of a spec file
};

/// `options` must stay where it is until the command line has been parsed.
void add_spec_options(CLI::App& command, SpecOptions& options);

struct Asked {
  Spec spec;
  Value model_config;
  std::filesystem::path config_file;           // that it was read from; empty of a configuration in a spec
  answers::ProgramsOf programs_of;             // the model as captured, for this spec and those of other strategies
  answers::SharedPrograms programs;            // for this one; empty where the family as it is written answers
  std::map<std::string, std::string> sources;  // of what was found and not said, by name
  std::vector<std::string> assumptions;        // of a trainer's file
};

/// Reads the files that the options name; what an option says wins over the spec file, and that over a trainer's.
/// Versions that nobody says are those of the active Python.  Throws Error.
Asked read_asked(const SpecOptions& options);

/// A model whose family is not known comes as a program: the one that is shipped where it holds for the configuration,
/// else one that the active Python captures.  Throws Error.
void capture_unknown(Asked& asked);

/// The same of a spec that stands in another file, `where`, whose paths are meant from `folder`.  A key "spec" names a
/// spec file that its other keys are laid over.  The hub is not asked, and versions that
/// nobody says are the default ones.
Asked read_asked(Value spec, const std::filesystem::path& folder, const std::string& where);

/// A CONFIG that is a spec is taken for --spec.
void take_spec_file(SpecOptions& options);

/// A spec file before its fields are read, its paths as seen from here.
Value spec_of_file(const std::string& path);

}  // namespace tidemark::cli
