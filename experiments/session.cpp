#include "session.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <thread>

#include "io/output_file.h"
#include "io/read_file.h"
#include "machine/error.h"
#include "measure/clock.h"
#include "report/color.h"
#include "report/compare_text.h"
#include "resume.h"
#include "standard_output.h"

namespace attn {
namespace {

double now_s() { return static_cast<double>(steady_now_ns()) / 1e9; }

bool streams(Format format) { return format == Format::text || format == Format::jsonl; }

// Whether a file is replaced whole: /dev/stdout and the like are written once, at the end.
bool is_replaced(const std::string& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  return !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
}

std::string duration_text(double seconds) {
  return seconds < 100 ? fmt::format("{:.0f} s", seconds) : fmt::format("{:.0f} min", seconds / 60);
}

// The signals that end a run, but for those that were ignored when it began (a job in the background).
sigset_t ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction action {};
    sigaction(signal, nullptr, &action);
    if (action.sa_handler != SIG_IGN) sigaddset(&signals, signal);
  }
  return signals;
}

}  // namespace

// A thread that waits for the signals, which all others block. SIGUSR1, sent by the destructor, ends it.
struct Session::Signals {
  explicit Signals(Session& session) : waited_for(ending_signals()) {
    sigaddset(&waited_for, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &waited_for, &before);
    try {
      waiter = std::thread([this, &session] {
        int signal = 0;
        sigwait(&waited_for, &signal);
        if (signal != SIGUSR1) session.end_interrupted(signal);
      });
    } catch (const std::system_error& error) {
      throw MemoryError(std::string("threads: start: ") + error.code().message());
    }
  }
  ~Signals() {
    pthread_kill(waiter.native_handle(), SIGUSR1);
    waiter.join();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  sigset_t waited_for;
  sigset_t before;
  std::thread waiter;
};

Session::Session(SessionOptions options, Json context) : options_(std::move(options)), context_(std::move(context)), started_s_(now_s()) {
  if (!options_.resume.empty()) {
    resumed_ = read_document(options_.resume);
    if (options_.out.empty()) options_.out = options_.resume;
  }
  if (!options_.expect.empty()) expected_ = read_file(options_.expect);
  // Tried before the work begins: a run of an hour must not end in "permission denied".
  if (!options_.out.empty()) OutputFile(options_.out);
  signals_ = std::make_unique<Signals>(*this);
}

Session::~Session() = default;

std::vector<Json> Session::finished_rows(const Json& args) const {
  if (!resumed_) return {};
  check_resumable(*resumed_, options_.resume, args, context_);
  return finished_rows_of(*resumed_);
}

void Session::publish(const Report& report) {
  const std::lock_guard lock(mutex_);
  clear_progress();
  published_ = report;
  // Saved first: whoever reads stdout may have gone, and then printing ends the program.
  if (!options_.out.empty() && is_replaced(options_.out)) save(report);
  if (streams(options_.format)) print_new_lines(print(report, options_.format, context_));
}

RowHooks Session::row_hooks(Report& report) {
  const auto next = [this](const std::string& now, double done, double total) { progress(now, done, total); };
  const auto finished = [this, &report](const Block& block) {
    const auto same = std::find_if(report.blocks.begin(), report.blocks.end(), [&](const Block& other) { return other.id == block.id; });
    if (same == report.blocks.end()) {
      report.blocks.push_back(block);
    } else {
      *same = block;
    }
    publish(report);
  };
  return {next, finished, finished_rows(report.args)};
}

int Session::finish(const Report& report) {
  Text text;
  {
    const std::lock_guard lock(mutex_);
    clear_progress();
    published_.reset();  // from here on an interruption has nothing more to save
    if (!options_.out.empty()) save(report);
    text = print(report, options_.format, context_);
    print_new_lines(text);
  }
  int code = report.status == Status::passed ? 0 : 1;
  if (!options_.expect.empty()) {
    if (const auto difference = compare_text(text, expected_, MeasuredCells::pass_over)) {
      const bool one = difference->count == 1;
      const std::string message =
          fmt::format("attn: expect: {}: line {}: expected '{}', found '{}'; {} line{} differ{}\n", options_.expect, difference->line,
                      difference->expected, difference->found, difference->count, one ? "" : "s", one ? "s" : "");
      std::fputs(message.c_str(), stderr);
      code = 1;
    }
  }
  return code;
}

void Session::warn(const std::string& text) {
  if (options_.quiet) return;
  const std::lock_guard lock(mutex_);
  clear_progress();
  std::fprintf(stderr, "attn: warning: %s\n", text.c_str());
}

void Session::progress(const std::string& now, double done, double total) {
  if (options_.quiet || isatty(STDERR_FILENO) == 0) return;
  const std::lock_guard lock(mutex_);
  clear_progress();
  const double elapsed = now_s() - started_s_;
  const std::string rest = done > 0 ? fmt::format(", about {} left", duration_text(elapsed * (total - done) / done)) : "";
  std::fprintf(stderr, "%s (%.0f %% done, %s%s)", now.c_str(), 100 * done / total, duration_text(elapsed).c_str(), rest.c_str());
  std::fflush(stderr);
  progress_shown_ = true;
}

void Session::print_new_lines(const Text& text) {
  const bool color = options_.color && options_.format == Format::text;
  std::string fresh;
  for (std::size_t i = lines_printed_; i < text.lines().size(); ++i) {
    const Line& line = text.lines()[i];
    fresh += (color ? colored(line) : plain(line)) + '\n';
  }
  lines_printed_ = std::max(lines_printed_, text.lines().size());
  write_stdout(fresh);
}

void Session::save(const Report& report) {
  OutputFile file(options_.out);
  file.write(print_json(report, context_).str());
  file.commit();
}

void Session::clear_progress() {
  if (!progress_shown_) return;
  std::fputs("\r\x1b[K", stderr);
  progress_shown_ = false;
}

void Session::end_interrupted(int signal) {
  const std::lock_guard lock(mutex_);
  clear_progress();
  try {
    if (published_ && !streams(options_.format)) print_new_lines(print(*published_, options_.format, context_));
  } catch (const Error&) {
    // Nobody is left to read; the file was saved when the row was published.
  }
  std::fputs("attn: interrupted\n", stderr);
  constexpr int by_signal = 128;
  _exit(by_signal + signal);
}

}  // namespace attn
