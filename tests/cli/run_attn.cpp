#include "cli/run_attn.h"

#include <sys/wait.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "support/temporary_folder.h"

namespace {

std::string shell_word(const std::string& word) {
  std::string result = "'";
  for (const char c : word) {
    if (c == '\'') result += "'\\'";  // closes, adds a quote, and opens again below
    result += c;
  }
  result += '\'';
  return result;
}

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream all;
  all << file.rdbuf();
  return all.str();
}

}  // namespace

Outcome run_attn(const std::vector<std::string>& arguments, const RunOptions& options) {
  const attn::TemporaryFolder folder;
  std::string command;
  if (!options.directory.empty()) command += "cd " + shell_word(options.directory) + " && ";
  command += options.shell_prefix + " ";
  for (const auto& [name, value] : options.environment) command += name + "=" + shell_word(value) + " ";
  command += shell_word(ATTN_PROGRAM);
  for (const std::string& argument : arguments) command += " " + shell_word(argument);
  command += " >" + shell_word(options.stdout_file.empty() ? (folder.path() / "out").string() : options.stdout_file);
  command += " 2>" + shell_word((folder.path() / "err").string()) + " </dev/null";
  const int status = std::system(("exec bash -c " + shell_word(command)).c_str());
  Outcome outcome;
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  if (options.stdout_file.empty()) outcome.out = contents((folder.path() / "out").string());
  outcome.err = contents((folder.path() / "err").string());
  return outcome;
}
