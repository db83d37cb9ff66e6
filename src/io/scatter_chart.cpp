#include "io/scatter_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "io/html_page.h"
#include "io/validation_text.h"

namespace tidemark::io {
namespace {

constexpr double kWidth = 740, kHeight = 640, kLeft = 80, kRight = 700, kTop = 15, kBottom = 600;

/// Powers of two of bytes between `low` and `high`.
struct Scale {
  double low, high;

  double at(double bytes, double from, double to) const {
    return from + (std::log2(bytes) - low) / (high - low) * (to - from);
  }
  double x(double bytes) const { return at(bytes, kLeft, kRight); }
  double y(double bytes) const { return at(bytes, kBottom, kTop); }
};

std::vector<const Prediction*> points_of(const EngineResult& engine) {
  std::vector<const Prediction*> points;
  for (const Prediction& one : engine.predictions)
    if (signed_error(one.scored) && one.scored.predicted_bytes > 0) points.push_back(&one);
  return points;
}

Scale scale_of(const std::vector<EngineResult>& engines) {
  double low = INFINITY, high = 0;
  for (const EngineResult& engine : engines)
    for (const Prediction* one : points_of(engine)) {
      const auto measured = static_cast<double>(*one->scored.measured_bytes);
      const auto predicted = static_cast<double>(one->scored.predicted_bytes);
      low = std::min({low, measured, predicted});
      high = std::max({high, measured, predicted});
    }
  return {std::floor(std::log2(low)), std::floor(std::log2(high)) + 1};
}

std::string grid(const Scale& scale) {
  std::string text;
  const double stride = std::ceil((scale.high - scale.low) / 10);
  for (double power = scale.low; power <= scale.high; power += stride) {
    const double bytes = std::exp2(power), x = scale.x(bytes), y = scale.y(bytes);
    const std::string label = format_bytes(static_cast<std::int64_t>(bytes));
    text += fmt::format(
        "<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>"
        "<line class=\"grid\" x1=\"{3:.1f}\" x2=\"{3:.1f}\" y1=\"{4}\" y2=\"{5}\"/>"
        "<text class=\"axis\" x=\"{6}\" y=\"{7:.1f}\" text-anchor=\"end\">{8}</text>"
        "<text class=\"axis\" x=\"{3:.1f}\" y=\"{9}\" text-anchor=\"middle\">{8}</text>\n",
        kLeft, kRight, y, x, kTop, kBottom, kLeft - 6, y + 4, label, kBottom + 16);
  }
  return text + fmt::format(
                    "<text class=\"axis\" x=\"{}\" y=\"{}\" text-anchor=\"end\">measured</text>"
                    "<text class=\"axis\" x=\"{}\" y=\"{}\">predicted</text>\n",
                    kRight, kBottom + 32, kLeft + 6, kTop + 10);
}

std::string point(const Prediction& one, const Scale& scale, const std::string& engine) {
  const auto measured = static_cast<double>(*one.scored.measured_bytes);
  const auto predicted = static_cast<double>(one.scored.predicted_bytes);
  return fmt::format(
      "<circle class=\"point {}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"><title>{}: {}, {} measured, {} predicted by "
      "{}</title></circle>\n",
      one.answer.engine == Engine::run ? "by-run" : "by-predict", scale.x(measured), scale.y(predicted),
      escape_html(one.row->id), percent_text(signed_error(one.scored), true), format_bytes(*one.scored.measured_bytes),
      format_bytes(one.scored.predicted_bytes), engine);
}

}  // namespace

std::string scatter_chart(const std::vector<EngineResult>& engines) {
  if (std::all_of(engines.begin(), engines.end(), [](const EngineResult& one) { return points_of(one).empty(); }))
    return {};
  const Scale scale = scale_of(engines);
  std::string text = fmt::format(
      "<svg id=\"scatter\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"predicted against measured memory\">\n",
      kWidth, kHeight);
  text += grid(scale);
  text +=
      fmt::format("<line class=\"diagonal\" x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>\n", kLeft, kBottom, kRight, kTop);
  for (const EngineResult& engine : engines)
    for (const Prediction* one : points_of(engine)) text += point(*one, scale, engine_text(engine));
  return text + "</svg>\n";
}

}  // namespace tidemark::io
