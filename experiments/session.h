// One run of a subcommand: where its finished rows go while it runs, what becomes of them when it is interrupted, and what it says on
// stderr meanwhile.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "report/printers.h"
#include "report/report.h"
#include "sweep/row_hooks.h"

namespace attn {

struct SessionOptions {
  Format format = Format::text;
  std::string out;     // file for the JSON document; empty: none
  std::string expect;  // file with earlier output; empty: none
  std::string resume;  // file with an earlier document; empty: none
  bool quiet = false;
  bool color = false;       // of verdicts
  bool true_color = false;  // of pictures
};

class Session {
 public:
  // Reads the files that are to be read, tries the one that is to be written, and begins to heed SIGINT and SIGTERM: from then on they
  // print and save what was published last and end the process at once, with exit code 130 or 143, even in the middle of a row.
  // Throws FileError; UsageError where the document to resume is no document of this program.
  Session(SessionOptions options, Json context);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Rows of the document to resume that were finished (passed or failed), as JSON objects; empty where there is none to resume. Throws
  // UsageError naming what differs unless that document has the same arguments, build and machine.
  std::vector<Json> finished_rows(const Json& args) const;

  // All that is finished so far: after every row or group of rows. New lines of text and JSON Lines are printed at once, and the file is
  // rewritten safely; the other formats are printed at the end.
  void publish(const Report& report);

  // Prints what is left to print, writes the file, compares with the expected output. Returns the exit code, 0 or 1.
  int finish(const Report& report);

  // For a sweep that makes one block after another: progress, publishing as blocks of `report`, and the rows of the document to resume,
  // for which report.args must be complete. Throws as finished_rows().
  RowHooks row_hooks(Report& report);

  // Whether what is printed is text on a terminal that shows 24-bit colours.
  bool true_color() const { return options_.true_color && options_.format == Format::text; }

  // On stderr, unless quiet.
  void warn(const std::string& text);

  // The progress line, where stderr is a terminal: what comes now, and how much of all work (in any unit) is done before it.
  void progress(const std::string& now, double done, double total);

 private:
  struct Signals;

  void print_new_lines(const Text& text);
  void save(const Report& report);
  void clear_progress();
  [[noreturn]] void end_interrupted(int signal);

  SessionOptions options_;
  Json context_;
  std::string expected_;
  std::optional<Json> resumed_;
  double started_s_ = 0;

  std::mutex mutex_;  // guards what follows against the thread that waits for signals
  std::optional<Report> published_;
  std::size_t lines_printed_ = 0;
  bool progress_shown_ = false;
  std::unique_ptr<Signals> signals_;
};

}  // namespace attn
