// Any text is a report or an Error; a report that was read can be judged, written in every form, and read again.
#include <cstdint>
#include <cstdlib>

#include "base/error.h"
#include "estimate/verdict.h"
#include "io/report_csv.h"
#include "io/report_html.h"
#include "io/report_json.h"
#include "io/report_text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tidemark;
  Report report;
  try {
    report = io::read_report({reinterpret_cast<const char*>(data), size}, "input");
    judge(report);
  } catch (const Error&) {
    return 0;
  }
  io::report_to_text(report);
  io::report_to_csv(report);
  io::report_to_html(report);
  const std::string text = io::write_report(report);
  if (io::write_report(io::read_report(text, "again")) != text) std::abort();
  return 0;
}
