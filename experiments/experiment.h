// What every subcommand is made of. To add one: write its file, and name it in registry.cpp.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "report/report.h"
#include "session.h"

namespace CLI {
class App;
}

namespace attn {

struct Experiment {
  std::string name;
  std::string summary;  // one line for --help
  std::vector<std::string> aliases;
  // Adds the subcommand's own options to `app`, and gives back what runs it once they are parsed. That throws UsageError for values
  // that make no sense together, MemoryError for a single computation that would not fit.
  std::function<std::function<Report(Session&)>(CLI::App& app)> set_up;
  bool resumable = false;  // has rows that --resume can take over
};

// All subcommands, in the order of --help.
std::vector<Experiment> experiments();

Experiment env();
Experiment demo();
Experiment causal();
Experiment figure();
Experiment scaling_sweep();
Experiment timing_sweep();
Experiment generate_sweep();
Experiment layer_sweep();
Experiment claims();
Experiment compare();
Experiment reproduce();
Experiment run();
Experiment check();
Experiment diff();

}  // namespace attn
