// What the system allows the program: memory, files, processors, folders; and where it is set up otherwise than usual.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "catch.h"
#include "cli/run_attn.h"
#include "io/read_file.h"
#include "support/temporary_folder.h"

using Json = nlohmann::json;

namespace {

RunOptions after(const std::string& shell_prefix) {
  RunOptions options;
  options.shell_prefix = shell_prefix;
  return options;
}

bool shell_succeeds(const std::string& command) { return std::system(("exec bash -c '" + command + "' >/dev/null 2>&1").c_str()) == 0; }

// The file of a cgroup's memory or processor limit, and what is written into it.
struct LimitFile {
  const char* controller;
  const char* version_1;
  const char* version_2;
  std::string value_1;
  std::string value_2;
};

// A control group of the test's own below this process's, with a limit; refuses silently where the system does not let it be made.
class Cgroup {
 public:
  explicit Cgroup(const LimitFile& limit) {
    const std::string name = "/attn-test-" + std::to_string(getpid());
    for (const bool first : {true, false}) {
      const std::string parent = parent_of(first ? limit.controller : "");
      if (parent.empty() || mkdir((parent + name).c_str(), 0755) != 0) continue;
      path_ = parent + name;
      std::ofstream file(path_ + "/" + (first ? limit.version_1 : limit.version_2));
      if (file << (first ? limit.value_1 : limit.value_2) << std::flush) return;
      rmdir(path_.c_str());
      path_.clear();
    }
  }
  ~Cgroup() {
    if (!path_.empty()) rmdir(path_.c_str());
  }
  Cgroup(const Cgroup&) = delete;
  Cgroup& operator=(const Cgroup&) = delete;

  bool made() const { return !path_.empty() && shell_succeeds(entering() + " true"); }

  // Moves the shell into it; the program follows.
  std::string entering() const { return "echo $$ > " + path_ + "/cgroup.procs &&"; }

 private:
  // Where this process's group is seen; the hierarchy of version 2 for an empty controller. Empty where there is none.
  static std::string parent_of(const std::string& controller) {
    std::ifstream groups("/proc/self/cgroup");
    for (std::string line; std::getline(groups, line);) {
      const std::size_t colon = line.find(':');
      const std::size_t second = line.find(':', colon + 1);
      if (line.substr(colon + 1, second - colon - 1) != controller) continue;
      const std::string mount = controller.empty() ? "/sys/fs/cgroup" : "/sys/fs/cgroup/" + controller;
      return std::filesystem::exists(mount + "/cgroup.procs") ? mount + line.substr(second + 1) : "";
    }
    return "";
  }

  std::string path_;
};

}  // namespace

#ifndef ATTN_SANITIZED
TEST_CASE("what does not fit into memory is said before it is allocated") {
  const RunOptions limited = after("ulimit -v 1000000;");
  const Outcome sweep = run_attn({"timing-sweep", "--n", "64,8192,128", "--threads", "1"}, limited);
  CHECK(sweep.exit_code == 1);
  CHECK(contains(sweep.out, "n= 8192  scores (8192, 8192)  skipped: timing-sweep: n = 8192: memory: expected "));
  CHECK(contains(sweep.out, "(address space limit)"));
  CHECK(contains(sweep.out, "n=  128  scores (128, 128)"));
  for (const char* seq : {"100k", "4611686018427387904"}) {
    const Outcome demo = run_attn({"demo", "--seq", seq}, limited);
    CHECK(demo.exit_code == 3);
    CHECK(demo.out.empty());
    CHECK(contains(demo.err, "memory: expected "));
  }
}

TEST_CASE("the ceilings are measured with what memory there is") {
  // 134 MB, four times a last cache of 32 MiB, cannot be had here.
  const Outcome env = run_attn({"env", "--json", "--threads", "1"}, after("ulimit -v 130000;"));
  INFO(env.err);
  CHECK(env.exit_code == 0);
  CHECK_FALSE(Json::parse(env.out)["results"].empty());
}

TEST_CASE("with hardly any memory a sweep goes on, and nothing crashes") {
  for (const char* kilobytes : {"20000", "40000", "60000", "100000"}) {
    const RunOptions limited = after("ulimit -v " + std::string(kilobytes) + ";");
    for (const std::vector<std::string>& call : std::vector<std::vector<std::string>>{
             {"demo", "--threads", "1"},
             {"env", "--threads", "1"},
             {"scaling-sweep", "--d-k", "4,1024", "--threads", "1"},
             {"timing-sweep", "--n", "64,512,1024", "--threads", "1"},
             {"timing-sweep", "--what", "fused,standard", "--n", "64,1024", "--reps", "1", "--threads", "1", "--quiet"}}) {
      const Outcome outcome = run_attn(call, limited);
      INFO(kilobytes << ": " << call.front() << ": " << outcome.out << outcome.err);
      const bool ended_well = outcome.exit_code == 0 || outcome.exit_code == 1;
      CHECK((ended_well || outcome.exit_code == 3));
      if (outcome.exit_code == 3) CHECK(outcome.err.starts_with("attn: "));
      CHECK_FALSE(contains(outcome.err, "internal"));
    }
  }
  // Enough for the program and its small rows, not for 33 MB of scores.
  const Outcome sweep = run_attn({"timing-sweep", "--n", "64,2048,128", "--threads", "1", "--json"}, after("ulimit -v 60000;"));
  CHECK(sweep.exit_code == 1);
  const Json rows = Json::parse(sweep.out)["results"];
  CHECK(rows[0]["status"] == "passed");
  CHECK(rows[1]["status"] == "skipped");
  CHECK(contains(rows[1]["reason"], "memory"));
  CHECK(rows[2]["status"] == "passed");
  const Json unlimited = Json::parse(run_attn({"timing-sweep", "--n", "64,2048,128", "--threads", "1", "--json"}).out)["results"];
  CHECK(rows[2]["input_hash"] == unlimited[2]["input_hash"]);
}

TEST_CASE("a control group's memory is the limit, where this machine lets a test set one") {
  const std::string bytes = "300000000";
  const Cgroup group({"memory", "memory.limit_in_bytes", "memory.max", bytes, bytes});
  if (!group.made()) {
    WARN("skipped: this machine lets no control group with a memory limit be made");
    return;
  }
  const Outcome sweep = run_attn({"timing-sweep", "--n", "64,8192,128"}, after(group.entering()));
  INFO(sweep.out << sweep.err);
  CHECK(sweep.exit_code == 1);
  CHECK(std::regex_search(sweep.out, std::regex("n= 8192 .* skipped: .* found 2[0-9][0-9][.][0-9] MB \\(cgroup memory limit\\)")));
  CHECK(contains(sweep.out, "n=  128  scores (128, 128)"));
  CHECK(contains(run_attn({"env"}, after(group.entering())).out, "cgroup memory limit leaves"));
}
#endif

TEST_CASE("a control group's processor quota is the default number of threads, where this machine lets a test set one") {
  const Cgroup group({"cpu", "cpu.cfs_quota_us", "cpu.max", "100000", "100000 100000"});
  if (!group.made()) {
    WARN("skipped: this machine lets no control group with a processor quota be made");
    return;
  }
  const Outcome outcome = run_attn({"demo", "--json"}, after(group.entering()));
  CHECK(Json::parse(outcome.out)["context"]["threads"] == 1);
  CHECK(Json::parse(run_attn({"demo", "--json", "--threads", "2"}, after(group.entering())).out)["context"]["threads"] == 2);
}

TEST_CASE("a process bound to one processor takes one thread") {
  if (!shell_succeeds("taskset -c 0 true")) return;
  CHECK(Json::parse(run_attn({"demo", "--json"}, after("taskset -c 0")).out)["context"]["threads"] == 1);
}

TEST_CASE("a read-only folder is found out before the work, and files in it stay") {
  // Root may write everywhere: then the program runs as nobody.
  std::string as_user;
  if (geteuid() == 0) as_user = "setpriv --reuid=65534 --regid=65534 --clear-groups";
  if (!as_user.empty() && !shell_succeeds(as_user + " test -x " ATTN_PROGRAM)) {
    WARN("skipped: the program cannot be run as another user than root");
    return;
  }
  const attn::TemporaryFolder folder;
  folder.write("old.json", "before");
  chmod((folder / "old.json").c_str(), 0444);
  chmod(folder.path().c_str(), 0555);
  for (const char* name : {"new.json", "old.json"}) {
    const Outcome outcome = run_attn({"timing-sweep", "--n", "64k", "--out", folder / name}, after(as_user));
    CHECK(outcome.exit_code == 3);
    CHECK(outcome.out.empty());
    CHECK(outcome.err == "attn: " + folder / name + ": open: Permission denied\n");
  }
  chmod(folder.path().c_str(), 0755);
  CHECK(attn::read_file(folder / "old.json") == "before");
  CHECK(folder.size() == 1);
}

TEST_CASE("files that may not grow are an error, and the one that was there stays") {
  const attn::TemporaryFolder folder;
  folder.write("out.json", "before");
  const Outcome outcome = run_attn({"reproduce", "--json", "--out", folder / "out.json"}, after("trap '' XFSZ; ulimit -f 1;"));
  CHECK(outcome.exit_code == 3);
  CHECK(contains(outcome.err, "out.json: write: File too large"));
  CHECK(attn::read_file(folder / "out.json") == "before");
  CHECK(folder.size() == 1);
}

TEST_CASE("threads: one, more than there are processors, as many as are allowed; not none and not too many") {
  const std::string one = run_attn({"scaling-sweep", "--d-k", "4,300", "--threads", "1"}).out;
  const Outcome many = run_attn({"scaling-sweep", "--d-k", "4,300", "--threads", "40"});
  CHECK(many.exit_code == 0);
  CHECK(many.out == one);
  const Outcome far_too_many = run_attn({"demo", "--threads", "100000"});
  CHECK(far_too_many.exit_code == 2);
  const std::regex names_the_range("attn: --threads: expected 1 to ([0-9]+), found 100000\n");
  std::smatch match;
  REQUIRE(std::regex_match(far_too_many.err, match, names_the_range));
  CHECK(run_attn({"demo", "--threads", match[1]}).exit_code == 0);
  CHECK(run_attn({"demo", "--threads", std::to_string(std::stol(match[1]) + 1)}).exit_code == 2);
  for (const char* none : {"0", "-1", "2.5", "two", ""}) CHECK(run_attn({"demo", "--threads", none}).exit_code == 2);
}

TEST_CASE("a locale with a decimal comma changes neither what is printed nor what is read") {
  const attn::TemporaryFolder folder;
  if (!shell_succeeds("localedef -i de_DE -f UTF-8 " + folder / "de_DE.UTF-8")) {
    WARN("skipped: no localedef, or no German locale for it, on this machine");
    return;
  }
  RunOptions german;
  german.environment = {{"LOCPATH", folder.path().string()}, {"LC_ALL", "de_DE.UTF-8"}};
  // The shell's own printf tells that the locale is there and has the comma.
  REQUIRE(shell_succeeds("LOCPATH=" + folder.path().string() + " LC_ALL=de_DE.UTF-8 bash -c \"test \\$(printf %.1f 0,5) = 0,5\""));
  const std::vector<std::vector<std::string>> calls = {
      {"demo"},
      {"scaling-sweep", "--d-k", "4,16", "--trials", "100", "--format", "csv"},
      {"causal", "--json"},
      {"timing-sweep", "--what", "fused", "--n", "16", "--softcap", "2.5", "--max-time", "0.5", "--dry-run", "--format", "markdown"},
      {"help", "timing-sweep"}};
  for (std::vector<std::string> call : calls) {
    INFO(call.front());
    const Outcome usual = run_attn(call);
    CHECK(usual.exit_code == 0);
    if (call.front() == "help") {
      CHECK(run_attn(call, german).out == usual.out);
      continue;
    }
    folder.write("usual", usual.out);  // some have measured cells, which --expect passes over
    call.insert(call.end(), {"--expect", folder / "usual"});
    CHECK(run_attn(call, german).exit_code == 0);
  }
  CHECK(run_attn({"timing-sweep", "--softcap", "2,5"}, german).exit_code == 2);
}

TEST_CASE("the version names the revision, the compiler and the instruction sets") {
  const std::string version = run_attn({"--version"}).out;
  INFO(version);
  std::smatch match;
  REQUIRE(std::regex_search(version, match, std::regex("^attn [0-9]+[.][0-9]+[.][0-9]+\n")));
  CHECK(contains(version, ATTN_COMPILER));
  const Json context = Json::parse(run_attn({"demo", "--json"}).out)["context"];
  if (context["git_sha"].is_string()) {
    const std::string sha = context["git_sha"];
    CHECK(contains(version, "git revision: " + sha));
    // It is a revision of this repository, where the tests run in one.
    if (shell_succeeds("git -C " ATTN_SOURCE_DIR " rev-parse")) CHECK(shell_succeeds("git -C " ATTN_SOURCE_DIR " cat-file -e " + sha));
  } else {
    CHECK(contains(version, "git revision: unknown"));
  }
  REQUIRE(std::regex_search(version, match, std::regex("instruction sets: ([A-Z0-9_ ]+) \\(in use: ([A-Z0-9_]+)\\)")));
  std::istringstream names(match[1]);
  std::set<std::string> targets(std::istream_iterator<std::string>(names), {});
  CHECK(targets.count(match[2]) == 1);
  CHECK(targets.count("SCALAR") + targets.count("EMU128") >= 1);
  for (const std::string& target : targets)
    CHECK(Json::parse(run_attn({"demo", "--json", "--isa", target}).out)["context"]["isa"] == target);
}
