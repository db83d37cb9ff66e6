// include/tidemark/predict.h, over the library's own parts.
#include "tidemark/predict.h"

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include "answers/data.h"
#include "answers/question.h"
#include "base/error.h"
#include "estimate/predict.h"
#include "io/card_as_asked.h"
#include "io/card_json.h"
#include "io/hf_config.h"
#include "io/report_json.h"
#include "io/spec_yaml.h"

namespace tidemark {
namespace {

constexpr const char* kWhere = "spec";

std::string text_of(const std::filesystem::path& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(Errc::not_found, "cannot read: " + std::generic_category().message(errno), path.string());
  return std::string(std::istreambuf_iterator<char>(file), {});
}

Card card_of(const Spec& spec, const std::filesystem::path& data) {
  const io::Catalogue catalogue = io::read_catalogue(text_of(data / "gpus.json"), "gpus.json");
  return io::card_as_asked(io::find_card(catalogue, spec.gpu), text_of(data / "device_memory.json"), spec.memory,
                           kLinkNames[static_cast<std::size_t>(spec.link)], spec.windows);
}

}  // namespace

Prediction predict_spec(std::string_view spec_text, const std::filesystem::path& data) {
  const Spec spec = read_spec(io::value_of_spec_file(spec_text, kWhere), kWhere);
  io::check_hf_config(spec.model, "spec: model");
  const answers::Data known = answers::data_of_folder(data, "", answers::ReadPrograms::when_asked);
  const answers::SharedPrograms programs = answers::programs_at_hand(spec, known.programs)(spec);
  const Report report = predict(spec, spec.model, card_of(spec, data), {.on_event = {}, .programs = *programs});
  return {report.fits,
          report.verdict,
          report.peak.allocated_bytes,
          report.peak.reserved_bytes,
          report.peak.device_bytes,
          io::write_report(report)};
}

}  // namespace tidemark
