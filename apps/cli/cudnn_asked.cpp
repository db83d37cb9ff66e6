#include "cudnn_asked.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>

#include "active_python.h"
#include "base/error.h"
#include "estimate/releases.h"
#include "ops/convolution_scratch.h"
#include "process.h"
#include "resources.h"
#include "stand_in_cache.h"
#include "tensor/torch_rules.h"

namespace tidemark::cli {
namespace {

namespace fs = std::filesystem;

/// "FORWARD WEIGHT INPUT", as python/tidemark/convolutions.py answers.
std::optional<ConvolutionScratch> scratch_in(const std::string& text) {
  std::istringstream words(text);
  ConvolutionScratch scratch;
  words >> scratch.forward_bytes >> scratch.backward_bytes >> scratch.input_bytes;
  return words ? std::optional(scratch) : std::nullopt;
}

/// What was answered before, of one cuDNN on cards of one compute capability: lines of question, tab and answer.
class Kept {
 public:
  explicit Kept(fs::path file) : file_(std::move(file)) {
    std::ifstream lines(file_);
    for (std::string line; std::getline(lines, line);)
      if (const std::size_t tab = line.find('\t'); tab != std::string::npos)
        if (const auto scratch = scratch_in(line.substr(tab))) answers_.insert_or_assign(line.substr(0, tab), *scratch);
  }

  const ConvolutionScratch* find(const std::string& question) const {
    const auto found = answers_.find(question);
    return found == answers_.end() ? nullptr : &found->second;
  }

  /// Whole lines go to the end, so that others may write too; where that is not possible it is asked again.
  void add(const std::string& question, const std::string& answer, const ConvolutionScratch& scratch) {
    answers_.insert_or_assign(question, scratch);
    std::error_code ignored;
    fs::create_directories(file_.parent_path(), ignored);
    const int file = ::open(file_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file < 0) return;
    const std::string line = question + '\t' + answer + '\n';
    [[maybe_unused]] const auto written = ::write(file, line.data(), line.size());
    ::close(file);
  }

 private:
  fs::path file_;
  std::map<std::string, ConvolutionScratch> answers_;
};

class Cudnn {
 public:
  Cudnn(const Spec& spec, const Card& card)
      : environment_(Environment::of_this_process()),
        gpu_(spec.gpu.empty() ? card.key : spec.gpu),
        torch_(known_torch(spec.torch).version),
        version_(torch_rules(torch_).cudnn),
        kept_(cache_root(environment_) / "convolutions" / ("cudnn-" + version_) /
              fmt::format("sm_{}{}.txt", card.compute_capability_major, card.compute_capability_minor)) {}

  ConvolutionScratch answer(std::string_view row, std::int64_t images) {
    const std::string question = fmt::format("{} of {}", row, images);
    const std::lock_guard lock(mutex_);
    if (const ConvolutionScratch* known = kept_.find(question)) return *known;
    if (!process_) start();
    if (!refusal_.empty()) throw Error(Errc::unsupported, refusal_);
    const auto said = process_->answer(question);
    const auto scratch = said ? scratch_in(*said) : std::nullopt;
    if (!scratch) throw Error(Errc::unsupported, said ? *said : reason_in(process_->errors()));
    kept_.add(question, *said, *scratch);
    return *scratch;
  }

 private:
  void start() {
    const auto python = active_python(environment_);
    if (const std::string why = what_lacks(python, {"torch"}); !why.empty()) throw Error(Errc::unsupported, why);
    Environment changed = environment_;
    changed.prepend("PYTHONPATH", find_resources().python.string());
    // Memory without end: a card that is full is given the next of cuDNN's plans.
    process_ = std::make_unique<Conversation>(
        std::vector<std::string>{fs::read_symlink("/proc/self/exe").string(), "run", "--quiet", "--gpu", gpu_,
                                 "--memory", "1000TB", "--", python->interpreter.string(), "-m",
                                 "tidemark.convolutions"},
        changed);
    const auto version = process_->answer();
    if (!version)
      refusal_ = reason_in(process_->errors());
    else if (*version != version_)
      refusal_ =
          fmt::format("{} has cuDNN {}, and torch {} has {}", python->interpreter.string(), *version, torch_, version_);
  }

  const Environment environment_;
  const std::string gpu_, torch_, version_;
  std::mutex mutex_;
  Kept kept_;
  std::unique_ptr<Conversation> process_;
  std::string refusal_;  // why the process is of no use
};

}  // namespace

AskCudnn cudnn_of(const Spec& spec, const Card& card) {
  // Made when it is needed: most models have no convolution that is not in a table.
  struct Later {
    std::once_flag once;
    std::unique_ptr<Cudnn> cudnn;
  };
  return [spec, card, later = std::make_shared<Later>()](std::string_view row, std::int64_t images) {
    std::call_once(later->once, [&] { later->cudnn = std::make_unique<Cudnn>(spec, card); });
    return later->cudnn->answer(row, images);
  };
}

}  // namespace tidemark::cli
