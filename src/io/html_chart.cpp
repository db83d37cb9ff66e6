#include "io/html_chart.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "estimate/verdict.h"

namespace tidemark::io {
namespace {

constexpr double kWidth = 960, kHeight = 340, kLeft = 70, kRight = 950, kTop = 15, kBottom = 310;

struct Scale {
  std::int64_t first_event, last_event;
  double top_bytes;

  double x(std::int64_t event) const {
    const double span = static_cast<double>(std::max<std::int64_t>(1, last_event - first_event));
    return kLeft + static_cast<double>(event - first_event) / span * (kRight - kLeft);
  }
  double y(double bytes) const { return kBottom - bytes / top_bytes * (kBottom - kTop); }
};

Scale scale_of(const std::vector<TimelinePoint>& points) {
  std::int64_t top = 1;
  for (const TimelinePoint& point : points) top = std::max({top, point.allocated_bytes, point.reserved_bytes});
  return {points.front().event, points.back().event, static_cast<double>(top) * 1.05};
}

// A filled staircase: memory stays as it is from one event to the next.
std::string area(const std::vector<TimelinePoint>& points, const Scale& scale, const char* name,
                 std::int64_t TimelinePoint::* bytes) {
  std::string path = fmt::format("M{:.1f} {:.1f}", scale.x(points.front().event), kBottom);
  for (const TimelinePoint& point : points)
    path += fmt::format("H{:.1f}V{:.1f}", scale.x(point.event), scale.y(static_cast<double>(point.*bytes)));
  return fmt::format("<path class=\"{}\" d=\"{}V{:.1f}Z\"><title>{}</title></path>\n", name, path, kBottom, name);
}

// Four lines at round fractions of the top, in the unit that fits.
std::string grid(const Scale& scale) {
  std::string text;
  for (int i = 0; i <= 4; ++i) {
    const double bytes = scale.top_bytes / 1.05 * i / 4;
    text += fmt::format(
        "<line class=\"grid\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>"
        "<text class=\"axis\" x=\"{3}\" y=\"{4:.1f}\" text-anchor=\"end\">{5}</text>\n",
        kLeft, kRight, scale.y(bytes), kLeft - 6, scale.y(bytes) + 4, format_bytes(static_cast<std::int64_t>(bytes)));
  }
  return text;
}

std::string step_marks(const std::vector<TimelinePoint>& points, const Scale& scale) {
  std::string text;
  double last_x = -100;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i > 0 && points[i].step == points[i - 1].step) continue;
    const double x = scale.x(points[i].event);
    text += fmt::format("<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"{1}\" y2=\"{2}\"/>", x, kTop, kBottom);
    if (x - last_x < 60) continue;  // labels must not overlap
    last_x = x;
    text +=
        fmt::format("<text class=\"axis\" x=\"{:.1f}\" y=\"{}\">step {}</text>\n", x + 3, kBottom + 15, points[i].step);
  }
  return text;
}

// The card's limit for the allocator, when it is near enough to be in the picture.
std::string limit(const Report& report, const Scale& scale) {
  const auto bytes = static_cast<double>(report.card.total_bytes - device_overhead_bytes(report).typical);
  if (bytes <= 0 || bytes > scale.top_bytes) return {};
  return fmt::format(
      "<line class=\"limit\" x1=\"{0}\" x2=\"{1}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"><title>the card's "
      "limit</title></line>\n",
      kLeft, kRight, scale.y(bytes));
}

// Numbers only, so nothing in it can end the script element.
std::string points_as_json(const std::vector<TimelinePoint>& points) {
  std::string text = "[";
  for (const TimelinePoint& point : points)
    text += fmt::format("{}[{},{},{},{},{}]", text.size() > 1 ? "," : "", point.event, point.allocated_bytes,
                        point.reserved_bytes, point.step, static_cast<int>(point.phase));
  return text + "]";
}

}  // namespace

std::string timeline_chart(const Report& report) {
  std::vector<TimelinePoint> points = report.timeline;
  if (points.size() < 2) return {};
  std::stable_sort(points.begin(), points.end(), [](const auto& a, const auto& b) { return a.event < b.event; });
  const Scale scale = scale_of(points);
  std::string text = fmt::format(
      "<h2>Timeline <small>reserved (pale) and allocated (dark), event by event</small></h2>\n"
      "<svg id=\"chart\" viewBox=\"0 0 {} {}\" data-left=\"{}\" data-right=\"{}\" role=\"img\" aria-label=\"memory "
      "over time\">\n",
      kWidth, kHeight, kLeft, kRight);
  text += grid(scale) + area(points, scale, "reserved", &TimelinePoint::reserved_bytes) +
          area(points, scale, "allocated", &TimelinePoint::allocated_bytes) + step_marks(points, scale) +
          limit(report, scale);
  text += fmt::format("<line class=\"cursor\" y1=\"{}\" y2=\"{}\"/>\n</svg>\n<p id=\"reading\"></p>\n", kTop, kBottom);
  text += fmt::format("<script type=\"application/json\" id=\"points\">{}</script>\n", points_as_json(points));
  return text;
}

}  // namespace tidemark::io
