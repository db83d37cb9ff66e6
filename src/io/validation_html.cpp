#include "io/validation_html.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/bytes.h"
#include "io/html_page.h"
#include "io/report_page.h"
#include "io/validation_text.h"
#include "io/value_json.h"

namespace tidemark::io {
namespace {

constexpr std::size_t kShown = 20;  // rows of a list before it folds

std::string statistics_row(std::string name, std::vector<std::string> cells, const char* tag = "td") {
  cells.insert(cells.begin(), std::move(name));
  return html_row(cells, tag);
}

/// As wide as it is: what does not fit on a screen is scrolled to.
std::string wide(std::string_view label, std::string_view rows) {
  return fmt::format("<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table>\n{}</table></div>\n",
                     escape_html(label), rows);
}

std::string statistics_table(const EngineResult& engine, const std::vector<std::string>& by) {
  std::string text = statistics_row(escape_html(fmt::format("{}", fmt::join(by, ", "))), statistic_headings(), "th");
  for (const Group& group : engine.groups)
    text += statistics_row(escape_html(group_text(group)), statistic_cells(group.statistics));
  text += statistics_row("all", statistic_cells(engine.total.statistics));
  for (const auto& [rival, figures] : engine.total.rivals)
    text += statistics_row("<i>" + escape_html(rival) + ", on the same rows</i>", statistic_cells(figures));
  return wide("Statistics, " + engine_text(engine), text);
}

/// Largest error first: what a reader looks for.
std::string rows_table(const EngineResult& engine) {
  std::vector<const Prediction*> rows;
  for (const Prediction& one : engine.predictions) rows.push_back(&one);
  const auto size = [](const Prediction* one) { return std::abs(signed_error(one->scored).value_or(0)); };
  std::stable_sort(rows.begin(), rows.end(), [&](const auto* a, const auto* b) { return size(a) > size(b); });
  std::string text = html_row({"row", "metric", "measured", "predicted", "error", "verdict"}, "th");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Scored& one = rows[i]->scored;
    const auto verdict = [](bool out) { return out ? "out of memory" : "fits"; };
    const bool wrong = one.out_of_memory && *one.out_of_memory != one.predicted_out_of_memory;
    text += html_row(
        {escape_html(rows[i]->row->id), group_value(*rows[i]->row, "", "metric"),
         one.measured_bytes ? format_bytes(*one.measured_bytes) : "-", format_bytes(one.predicted_bytes),
         percent_text(signed_error(one), true),
         fmt::format("{}{}", verdict(one.predicted_out_of_memory), wrong ? " <b class=\"missed\">wrong</b>" : "")},
        "td", i < kShown ? "" : "more");
  }
  return wide("Rows, " + engine_text(engine), text);
}

std::string bars_table(const std::vector<BarResult>& bars) {
  if (bars.empty()) return {};
  std::string text = html_row({"corpus", "claimed", "is", "verdict", "why"}, "th");
  for (const BarResult& one : bars)
    text +=
        html_row({escape_html(one.corpus), escape_html(bar_text(one.bar)), statistic_text(one.bar.statistic, one.value),
                  one.met ? "met" : "<b class=\"missed\">missed</b>", escape_html(one.bar.why)});
  return "<h2>Bars</h2>\n" + wide("Bars", text);
}

std::string left_out_table(const std::vector<LeftOut>& left_out) {
  if (left_out.empty()) return {};
  std::string text = html_row({"rows", "why"}, "th");
  for (const auto& [reason, count] : reasons_of(left_out))
    text += html_row({fmt::format("{}", count), escape_html(reason)});
  return "<h2>Left out</h2>\n" + wide("Left out", text);
}

/// What the chart draws: rows that have a number on both sides.
Value points_of(const EngineResult& engine) {
  Value::List points;
  for (const Prediction& one : engine.predictions)
    if (const auto error = signed_error(one.scored); error && one.scored.predicted_bytes > 0)
      points.push_back(Value::Map{{"row", one.row->id},
                                  {"measured", *one.scored.measured_bytes},
                                  {"predicted", one.scored.predicted_bytes},
                                  {"error", percent_text(error, true)}});
  return points;
}

Value charted(const std::vector<EngineResult>& engines) {
  Value::List all;
  for (const EngineResult& engine : engines) {
    const bool is_run = !engine.predictions.empty() && engine.predictions.front().answer.engine == Engine::run;
    all.push_back(
        Value::Map{{"name", engine_text(engine)}, {"kind", is_run ? "run" : "predict"}, {"points", points_of(engine)}});
  }
  return Value::Map{{"engines", std::move(all)}};
}

}  // namespace

std::string validation_to_html(const Validation& validation) {
  const auto missed =
      std::count_if(validation.bars.begin(), validation.bars.end(), [](const auto& b) { return !b.met; });
  const std::string verdict = validation.bars.empty() ? "no bars were judged"
                              : missed == 0 ? fmt::format("all {} bars are met", validation.bars.size())
                                            : fmt::format("{} of {} bars are missed", missed, validation.bars.size());
  std::vector<std::string> names;
  for (const Corpus* corpus : validation.corpora) names.push_back(corpus->info.name);
  const std::string header =
      fmt::format("<div id=\"verdict\" class=\"{}\"><p class=\"line\">{}</p><p class=\"soft\">corpora: {}</p></div>",
                  validation.bars.empty() ? "unsure"
                  : missed == 0           ? "good"
                                          : "bad",
                  verdict, escape_html(fmt::format("{}", fmt::join(names, ", "))));
  std::string body;
  for (const EngineResult& engine : validation.engines) {
    body += fmt::format("<h2>{} <small>{} rows</small></h2>\n", engine_text(engine), engine.predictions.size());
    if (!engine.predictions.empty()) body += statistics_table(engine, validation.by) + rows_table(engine);
  }
  body += bars_table(validation.bars) + left_out_table(validation.left_out);
  std::string page(validation_page());
  fill_place(page, "<!--verdict-->", header);
  fill_place(page, "<!--data-->", within_script(value_to_json_line(charted(validation.engines))));
  fill_place(page, "<!--tables-->", body);
  return page;
}

}  // namespace tidemark::io
