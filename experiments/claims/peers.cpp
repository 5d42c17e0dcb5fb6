#include "claims/peers.h"

#include <algorithm>
#include <cmath>

#include "machine/error.h"
#include "options/split.h"
#include "resume.h"

namespace attn {
namespace {

constexpr const char* default_call = "pytorch";
constexpr const char* fused_call = "pytorch-fused";
constexpr const char* plain_call = "pytorch-math";

bool is_pytorch(const Json& row) {
  if (!row.is_object()) return false;
  const Json algorithm = row.value("algorithm", Json());
  return algorithm == default_call || algorithm == fused_call || algorithm == plain_call;
}

bool is_usable(const Json& row) {
  if (!is_pytorch(row) || row.value("status", Json()) != "passed") return false;
  for (const char* size : {"seq_q", "seq_k", "heads", "head_dim"}) {
    if (!row.value(size, Json()).is_number_integer()) return false;
  }
  const Json samples = row.value("samples_ns", Json());
  const bool timed = samples.is_array() && !samples.empty() &&
                     std::all_of(samples.begin(), samples.end(), [](const Json& sample) { return sample.is_number(); });
  return timed && row.value("dtype", Json()).is_string() && row.value("mask", Json()).is_string() && row["seq_q"] == row["seq_k"];
}

PeerProblem problem_of(const Json& row) {
  return {row.at("dtype"), row.at("mask") == "causal", row.at("seq_q"), row.at("heads"), row.at("head_dim")};
}

bool same_problem(const PeerProblem& a, const PeerProblem& b) {
  return a.dtype == b.dtype && a.causal == b.causal && a.n == b.n && a.heads == b.heads && a.d == b.d;
}

PeerTimes times_of(const Json& row) {
  PeerTimes times{row.at("samples_ns").get<std::vector<double>>()};
  if (row.value("peak_bytes", Json()).is_number()) times.peak_bytes = row["peak_bytes"].get<double>();
  if (row.value("kernel", Json()).is_string()) times.kernel = row["kernel"].get<std::string>();
  return times;
}

bool names_fused(const std::string& kernel) {
  return kernel.find("FLASH") != std::string::npos || kernel.find("EFFICIENT") != std::string::npos;
}

// 0 where the default takes the fused call's time, 1 where it takes the plain one's, on a scale of ratios.
double place_between(const PeerProblem& problem) {
  const double fused = problem.fused->median_s();
  return std::log(problem.by_default->median_s() / fused) / std::log(problem.plain->median_s() / fused);
}

bool is_complete(const PeerProblem& problem) { return problem.by_default && problem.fused && problem.plain; }

std::string name_of(const PeerProblem& problem) {
  return fmt::format("{}{} n = {}", problem.dtype, problem.causal ? " causal" : "", problem.n);
}

Finding examine_dispatch(const ClaimSettings& settings) {
  Finding finding;
  if (!settings.peers) {
    finding.measured = "nothing";
    finding.judged = {ClaimVerdict::not_measurable, "it takes PyTorch: give --peers the file that `scripts/peers/run --out FILE` wrote"};
    return finding;
  }
  const std::vector<PeerProblem> problems = pytorch_problems(*settings.peers);
  for (const PeerProblem& problem : problems) {
    if (!is_complete(problem)) continue;
    const Json at = {{"dtype", problem.dtype}, {"causal", problem.causal}, {"n", problem.n},
                     {"heads", problem.heads}, {"d", problem.d},           {"kernel", problem.by_default->kernel}};
    finding.quantities.push_back({"default_time_s", at, problem.by_default->median_s()});
    finding.quantities.push_back({"fused_time_s", at, problem.fused->median_s()});
    finding.quantities.push_back({"plain_time_s", at, problem.plain->median_s()});
    finding.measured += fmt::format("{}{}: {}, {:.2f} ms by default, {:.2f} fused, {:.2f} plain", finding.measured.empty() ? "" : "; ",
                                    name_of(problem), problem.by_default->kernel.empty() ? "kernel not told" : problem.by_default->kernel,
                                    problem.by_default->median_s() * 1e3, problem.fused->median_s() * 1e3, problem.plain->median_s() * 1e3);
  }
  if (finding.measured.empty()) finding.measured = "nothing";
  finding.judged = judge_dispatch(problems);
  return finding;
}

// What times of two files must share to be compared.
Json host_of(const Json& document) {
  const Json context = document.value("context", Json::object());
  return {{"cpu_model", context.value("cpu_model", Json())}, {"threads", context.value("threads", Json())}};
}

}  // namespace

double PeerTimes::median_s() const { return median(samples_ns) / 1e9; }

std::vector<PeerProblem> pytorch_problems(const std::vector<Json>& rows) {
  std::vector<PeerProblem> problems;
  for (const Json& row : rows) {
    if (!is_usable(row)) continue;
    const PeerProblem problem = problem_of(row);
    auto known = std::find_if(problems.begin(), problems.end(), [&](const PeerProblem& other) { return same_problem(problem, other); });
    if (known == problems.end()) known = problems.insert(problems.end(), problem);
    auto& call = row["algorithm"] == default_call ? known->by_default : row["algorithm"] == fused_call ? known->fused : known->plain;
    if (call)
      throw FileError(
          fmt::format("peers: rows: expected one of {} at {}, found two", row["algorithm"].get<std::string>(), name_of(problem)));
    call = times_of(row);
  }
  return problems;
}

std::vector<Json> read_peers(const std::string& paths) {
  std::vector<Json> all;
  Json first_host;
  for (const std::string& path : split(paths, ',')) {
    const Json document = read_document(path);
    const Json host = host_of(document);
    if (all.empty()) {
      first_host = host;
    } else if (host != first_host) {
      throw UsageError(fmt::format("{}: host: expected that of the files before it, {}, found {}", path, first_host.dump(), host.dump()));
    }
    const Json& rows = document["results"];
    if (std::none_of(rows.begin(), rows.end(), is_pytorch)) {
      throw FileError(path + ": rows: expected some of pytorch, as scripts/peers/run --out writes them, found none");
    }
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

Judged judge_dispatch(const std::vector<PeerProblem>& problems) {
  Index compared = 0;
  std::vector<std::string> others;
  for (const PeerProblem& problem : problems) {
    if (!is_complete(problem)) continue;
    ++compared;
    const std::string& kernel = problem.by_default->kernel;
    const bool fused = (kernel.empty() || names_fused(kernel)) && place_between(problem) < 0.5;
    if (!fused) others.push_back(name_of(problem));
  }
  if (compared == 0) return {ClaimVerdict::not_measurable, "no problem in the file has PyTorch's default, fused and plain calls"};
  if (others.empty()) return {ClaimVerdict::holds, fmt::format("the default call is fused in all {} problems of the file", compared)};
  const std::string found = fmt::format("the default call is not fused in {}", fmt::join(others, ", "));
  return {static_cast<Index>(others.size()) < compared ? ClaimVerdict::in_part : ClaimVerdict::does_not_hold, found};
}

Claim dispatch_claim() {
  return {"dispatch",
          2,
          "PyTorch picks a fused kernel by itself",
          "the library chooses a fused kernel where it has one",
          "holds: in every problem of the peers' file the default call names a fused kernel and takes a time nearer to the fused call's "
          "than to "
          "the plain one's (as ratios); in part: in some; does not hold: in none",
          true,
          0,
          examine_dispatch};
}

}  // namespace attn
