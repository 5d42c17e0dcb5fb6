// Runs the built program as its users do, and keeps what it says.
#pragma once

#include <map>
#include <string>
#include <vector>

struct Outcome {
  int exit_code = -1;  // 128 + the signal's number where a signal ended it
  std::string out;
  std::string err;
};

struct RunOptions {
  std::map<std::string, std::string> environment;  // added to ours
  std::string stdout_file;                         // where stdout goes instead of into Outcome::out
  std::string shell_prefix;                        // run by a shell after this, such as "ulimit -v 500000;"
  std::string directory;                           // to run in
};

Outcome run_attn(const std::vector<std::string>& arguments, const RunOptions& options = {});

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
