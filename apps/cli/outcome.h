// From what the processes of a run wrote to the one report that the user gets.
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "child.h"
#include "estimate/report.h"
#include "memory/card.h"

namespace tidemark::cli {

/// The report of the process that ran out of memory, else of the one that held most; nothing when none used CUDA.
/// A report that a killed process left half-written is passed over.
std::optional<Report> collect_report(const std::filesystem::path& run_folder);

/// Fills in what the processes could not know, and judges.
void complete_report(Report& report, const Card& card, const std::vector<std::string>& command,
                     const ChildResult& child, const std::map<std::string, std::string>& versions);

/// Of the whole run: the program's own failure passes through, unless it ran out of the card's memory.
int exit_code_for(const Report& report, const ChildResult& child);

/// Writes `report` as each file that was asked for ("-" is stdout), and the text unless stdout is taken.
struct ReportFiles {
  std::string json, html, csv;
};
void write_report_files(const Report& report, const ReportFiles& files);

}  // namespace tidemark::cli
