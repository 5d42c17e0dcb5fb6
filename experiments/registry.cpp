// The list of subcommands: a new experiment is one file and one line here (and its declaration in experiment.h).
#include "experiment.h"

namespace attn {

std::vector<Experiment> experiments() {
  return {reproduce(),   demo(),   causal(),  figure(), scaling_sweep(), timing_sweep(), generate_sweep(),
          layer_sweep(), claims(), compare(), run(),    check(),         diff(),         env()};
}

}  // namespace attn
