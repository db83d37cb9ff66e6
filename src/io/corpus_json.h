// The files of a corpus: corpus.json, rows.jsonl, predictions.jsonl and estimates.jsonl
// (docs/reference/measurements.md).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "validate/corpus.h"
#include "validate/estimates.h"

namespace tidemark::io {

/// Throw Error with file and line; `where` names the file.
CorpusInfo read_corpus_json(std::string_view text, const std::string& where);
std::vector<Measurement> read_rows(std::string_view text, const std::string& where);
std::vector<Answer> read_answers(std::string_view text, const std::string& where);
std::vector<Estimate> read_estimates(std::string_view text, const std::string& where);

/// One line each; read_rows and read_answers give the same back.
std::string write_rows(const std::vector<Measurement>& rows);
std::string write_answers(const std::vector<Answer>& answers);

}  // namespace tidemark::io
