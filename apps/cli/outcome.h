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

/// --margin: keeps that quantile of the measured residuals free, of rows of `modality` where it is known.  Nothing for
/// an empty one.
void keep_margin(Report& report, const std::string& quantile, const std::string& modality,
                 const std::filesystem::path& data);

/// Of a run whose program failed for reasons of its own: its exit code is said in words, so that none of ours is taken
/// for it.
constexpr int kProgramFailed = 4;

/// Of a run whose program has ended in a failure: 128 + n for signal n that was not ours, as a shell has it, and else
/// kProgramFailed.
int exit_code_for(const ChildResult& failed);

/// Of the whole run; a program that ran out of the card's memory has not failed, it does not fit.
int exit_code_for(const Report& report, const ChildResult& child);

struct ReportFiles {
  std::string json, html, csv;
};

/// Throws Error{bad_value} when two of them would go to stdout.
void check_one_stdout(const ReportFiles& files);

/// As check_one_stdout, and throws Error when one of them could not be written later.
void check_report_files(const ReportFiles& files);

/// Writes `report` as each file that was asked for ("-" is stdout).
void write_report_files(const Report& report, const ReportFiles& files);

/// What is printed next stands on a line of its own where the program may have left one unfinished, such as a progress
/// bar on standard error.
void end_the_programs_line(const ReportFiles& files);

/// Prints the text, or the verdict alone; to stderr when stdout is taken by a file.
void print_report(const Report& report, const ReportFiles& files, bool verdict_alone);

}  // namespace tidemark::cli
