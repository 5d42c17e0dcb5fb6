// Help, version, man page and completions: what the shells and the man programs themselves make of them.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include "catch.h"
#include "cli/run_attn.h"
#include "io/read_file.h"
#include "support/temporary_folder.h"

namespace {

// Both outputs of a shell command, its exit code in a last line of their own.
std::string shell(const std::string& command) {
  std::FILE* pipe = popen(("{ " + command + "\n} 2>&1; echo \"exit $?\"").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string output;
  std::array<char, 4096> buffer{};
  for (std::size_t count = 0; (count = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) output.append(buffer.data(), count);
  pclose(pipe);
  return output;
}

// Whether a program is installed; the test log says what was left out where it is not.
bool installed(const std::string& program) {
  const bool found = contains(shell("command -v " + program), "exit 0");
  if (!found) WARN(program << " is not installed: its checks are left out");
  return found;
}

// The names in the first column of --help, below `heading`.
std::vector<std::string> listed(const std::string& help, const std::string& heading, const std::string& pattern) {
  std::vector<std::string> names;
  const std::regex name(pattern);
  std::istringstream lines(help.substr(std::min(help.find(heading), help.size())));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line) && (line.empty() || line.starts_with("  "))) {
    const std::string column = line.substr(0, line.find("  ", 2));
    for (std::sregex_iterator at(column.begin(), column.end(), name), end; at != end; ++at) names.push_back(at->str());
  }
  return names;
}

std::vector<std::string> commands() { return listed(run_attn({"--help"}).out, "Subcommands:\n", "[a-z]+(-[a-z]+)*"); }

std::vector<std::string> options_of(const std::string& command) {
  return listed(run_attn({command, "--help"}).out, "Options:\n", "--[a-z]+(-[a-z]+)*");
}

// A completion script for bash that has been written into a folder, and tried.
class Bash {
 public:
  Bash() { folder_.write("attn.bash", run_attn({"help", "--completion", "bash"}).out); }

  std::string script() const { return (folder_.path() / "attn.bash").string(); }
  const attn::TemporaryFolder& folder() const { return folder_; }

  // What completes the last word.
  std::set<std::string> complete(const std::vector<std::string>& words) const {
    std::string command = "cd " + folder_.path().string() + " && bash -c '. ./attn.bash; COMP_WORDS=(attn";
    for (const std::string& word : words) command += " \"" + word + "\"";
    command += "); COMP_CWORD=" + std::to_string(words.size()) + "; _attn; printf \"%s\\n\" \"${COMPREPLY[@]}\"'";
    std::istringstream lines(shell(command));
    std::set<std::string> found;
    for (std::string line; std::getline(lines, line);) {
      if (!line.empty() && line != "exit 0") found.insert(line);
    }
    return found;
  }

 private:
  attn::TemporaryFolder folder_;
};

using Words = std::set<std::string>;

}  // namespace

TEST_CASE("attn help COMMAND is what attn COMMAND --help prints") {
  REQUIRE(commands().size() > 5);
  for (const std::string& command : commands()) {
    INFO(command);
    const Outcome help = run_attn({"help", command});
    CHECK(help.exit_code == 0);
    CHECK(help.out == run_attn({command, "--help"}).out);
    CHECK(contains(help.out, "Usage: attn "));
  }
  CHECK(run_attn({"help"}).out == run_attn({"--help"}).out);
  const Outcome unknown = run_attn({"help", "dmeo"});
  CHECK(unknown.exit_code == 2);
  CHECK(unknown.err == "attn: help: unknown subcommand 'dmeo'; did you mean 'demo'?\n");
  CHECK(run_attn({"help", "--completion", "fish"}).exit_code == 2);
  CHECK(contains(run_attn({"help", "demo", "extra"}).err, "extra"));
  CHECK(run_attn({"help", "demo", "extra"}).exit_code == 2);
  CHECK(run_attn({"help", "--foo"}).exit_code == 2);
}

TEST_CASE("--version names the revision, the compiler and the instruction sets") {
  const std::string version = run_attn({"--version"}).out;
  CHECK(std::regex_search(version, std::regex("^attn [0-9]+\\.[0-9]+\\.[0-9]+\n")));
  CHECK(std::regex_search(version, std::regex("\ngit revision: ([0-9a-f]{40}|unknown)")));
  CHECK(std::regex_search(version, std::regex("\ncompiler: [A-Za-z]+ [0-9.]+, [a-z]+\n")));
  CHECK(std::regex_search(version, std::regex("\ninstruction sets: .*(SCALAR|EMU128) \\(in use: [A-Z0-9]+\\)\n$")));
}

TEST_CASE("the man page and both completions have every subcommand and every option") {
  const std::string man = std::regex_replace(run_attn({"help", "--man"}).out, std::regex("\\\\-"), "-");
  const std::string bash = run_attn({"help", "--completion", "bash"}).out;
  const std::string zsh = run_attn({"help", "--completion", "zsh"}).out;
  for (const std::string& command : commands()) {
    INFO(command);
    CHECK(contains(man, command));
    CHECK(std::regex_search(bash, std::regex("\\n    (.* \\| )?" + command + "( \\| .*)?\\)\\n")));
    CHECK(std::regex_search(zsh, std::regex("\\n    \\((.*\\|)?" + command + "(\\|.*)?\\)\\n")));
    for (const std::string& option : options_of(command)) {
      INFO(option);
      CHECK(contains(man, "\\fB" + option + "\\fR"));
      CHECK(contains(bash, option));
      CHECK((contains(zsh, ")" + option) || contains(zsh, "*" + option)));
    }
  }
}

TEST_CASE("the man page is good roff") {
  const attn::TemporaryFolder folder;
  folder.write("attn.1", run_attn({"help", "--man"}).out);
  const std::string page = (folder.path() / "attn.1").string();
  if (installed("mandoc")) {
    const std::string complaints = shell("mandoc -Tlint -Wwarning " + page + " | grep -v 'missing date'");
    CHECK(complaints == "exit 1\n");  // grep found nothing more
  }
  if (installed("man")) {
    CHECK(shell("man --warnings -l " + page + " >/dev/null") == "exit 0\n");
    const std::string text = shell("MANWIDTH=120 man -l " + page + " | cat");
    for (const std::string& option : options_of("timing-sweep")) CHECK(contains(text, option));
    CHECK(contains(text, "EXIT STATUS"));
  }
}

TEST_CASE("bash completes subcommands, options, choices, lists and files") {
  const Bash bash;
  CHECK(shell("bash -n " + bash.script()) == "exit 0\n");
  const Words all = bash.complete({""});
  for (const std::string& command : commands()) CHECK(all.count(command) == 1);
  CHECK(bash.complete({"scal"}) == Words{"scaling-sweep"});
  CHECK(bash.complete({"--ver"}) == Words{"--version"});
  CHECK(bash.complete({"help", "dem"}) == Words{"demo"});
  CHECK(bash.complete({"timing", "--win"}) == Words{"--window"});
  CHECK(bash.complete({"timing-sweep", "--n", "5", "--win"}) == Words{"--window"});
  for (const std::string& command : commands()) {
    INFO(command);
    const Words options = bash.complete({command, "--"});
    for (const std::string& option : options_of(command)) CHECK(options.count(option) == 1);
  }
  CHECK(bash.complete({"demo", "--format", ""}) == Words{"text", "json", "jsonl", "csv", "markdown"});
  CHECK(bash.complete({"demo", "--format", "js"}) == Words{"json", "jsonl"});
  CHECK(bash.complete({"demo", "--format", "=", "ma"}) == Words{"markdown"});
  CHECK(bash.complete({"demo", "--format", "="}).size() == 5);
  CHECK(bash.complete({"demo", "--seed", ""}).empty());
  CHECK(bash.complete({"timing-sweep", "--dtype", "f3"}) == Words{"f32"});
  CHECK(bash.complete({"timing-sweep", "--what", "fused,s"}) == Words{"fused,scores", "fused,standard"});

  bash.folder().write("runs/new.json", "");
  bash.folder().write("old one.json", "");
  bash.folder().write("older.json", "");
  CHECK(bash.complete({"compare", "ol"}) == Words{"old one.json", "older.json"});
  CHECK(bash.complete({"compare", "older.json,runs/"}) == Words{"older.json,runs/new.json"});
  CHECK(bash.complete({"compare", "older.json", "ru"}) == Words{"runs"});
  CHECK(bash.complete({"demo", "--out", "o"}) == Words{"old one.json", "older.json"});
  CHECK(bash.complete({"reproduce", "--documents", ""}) == Words{"runs"});
}

TEST_CASE("zsh accepts its completion") {
  if (!installed("zsh")) return;
  const attn::TemporaryFolder folder;
  folder.write("_attn", run_attn({"help", "--completion", "zsh"}).out);
  CHECK(shell("zsh -n " + (folder.path() / "_attn").string()) == "exit 0\n");
  // compinit finds it by its first line, and loading it defines its functions.
  const std::string script = "fpath=(" + folder.path().string() + " $fpath); autoload -Uz compinit; compinit -u -d " +
                             (folder.path() / "dump").string() + "; print $_comps[attn]; autoload +X _attn && whence -w _attn";
  CHECK(shell("zsh -f -c '" + script + "'") == "_attn\n_attn: function\nexit 0\n");
}

TEST_CASE("cmake --install puts the program, the man page and the completions where they belong") {
  const attn::TemporaryFolder folder;
  const std::string prefix = folder.path().string();
  const std::string log = shell("'" ATTN_CMAKE "' --install '" ATTN_BUILD_DIR "' --prefix '" + prefix + "'");
  INFO(log);
  REQUIRE(contains(log, "exit 0"));
  CHECK(contains(shell(prefix + "/bin/attn --version"), "attn "));
  CHECK(attn::read_file(prefix + "/share/man/man1/attn.1") == run_attn({"help", "--man"}).out);
  CHECK(attn::read_file(prefix + "/share/bash-completion/completions/attn") == run_attn({"help", "--completion", "bash"}).out);
  CHECK(attn::read_file(prefix + "/share/zsh/site-functions/_attn") == run_attn({"help", "--completion", "zsh"}).out);
}
