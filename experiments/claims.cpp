// `attn claims`: what the articles claim in words, measured, with a verdict on each (claims/claim.h).
#include <algorithm>
#include <memory>
#include <utility>

#include "experiment.h"

#include "claims/claim.h"
#include "claims/claim_record.h"
#include "claims/peers.h"
#include "claims/timed.h"
#include "machine/error.h"
#include "measure/clock.h"
#include "options/nearest_name.h"
#include "options/options.h"
#include "options/split.h"

namespace attn {
namespace {

struct ClaimsOptions {
  std::vector<std::string> only;  // ids; empty: all
  std::string peers;
  ClaimSettings settings;
};

std::vector<std::string> ids() {
  std::vector<std::string> all;
  for (const Claim& claim : all_claims()) all.push_back(claim.id);
  return all;
}

// In the order of all claims, whatever order they were named in.
std::vector<Claim> chosen_claims(const ClaimsOptions& options) {
  std::vector<Claim> chosen;
  for (Claim& claim : all_claims()) {
    const bool named = std::find(options.only.begin(), options.only.end(), claim.id) != options.only.end();
    if (named || options.only.empty()) chosen.push_back(std::move(claim));
  }
  return chosen;
}

std::vector<std::string> parse_ids(const std::string& text) {
  const std::vector<std::string> known = ids();
  std::vector<std::string> named = split(text, ',');
  for (const std::string& id : named) {
    if (std::find(known.begin(), known.end(), id) != known.end()) continue;
    const std::string nearest = nearest_name(id, known);
    const std::string hint = nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest);
    throw UsageError(fmt::format("--only: expected {}, found '{}'{}", fmt::join(known, ", "), id, hint));
  }
  return named;
}

// The command line that examines this claim alone, as here.
std::string command_for(const Claim& claim, const ClaimsOptions& options) {
  std::string command = fmt::format("attn claims --only {}", claim.id);
  if (options.settings.quick) command += " --quick";
  if (!options.peers.empty() && (claim.id == "fused" || claim.id == "dispatch")) command += " --peers " + options.peers;
  if (!(options.settings.seed == Seed(0))) command += " --seed " + options.settings.seed.text();
  return command;
}

double now_s() { return static_cast<double>(steady_now_ns()) / 1e9; }

ExaminedClaim examine(const Claim& claim, const ClaimsOptions& options) {
  const double start_s = now_s();
  ExaminedClaim examined{claim, {}, command_for(claim, options)};
  try {
    examined.finding = claim.examine(options.settings);
  } catch (const MemoryError& error) {
    examined.finding.measured = "nothing";
    examined.finding.judged = {ClaimVerdict::not_measurable, error.what()};
    examined.finding.status = Status::skipped;
  }
  examined.seconds = now_s() - start_s;
  return examined;
}

ExaminedClaim examine_or_restore(const Claim& claim, const ClaimsOptions& options, const std::vector<Json>& finished) {
  for (const Json& record : finished) {
    if (record.value("id", Json()) == claim.id) return restored_claim(claim, record);
  }
  return examine(claim, options);
}

Json args_of(const ClaimsOptions& options, const std::vector<Claim>& claims) {
  Json named = Json::array();
  for (const Claim& claim : claims) named.push_back(claim.id);
  return {{"only", named},
          {"quick", options.settings.quick},
          {"peers", options.peers.empty() ? Json() : Json(options.peers)},
          {"seed", options.settings.seed.text()}};
}

void add(Report& report, const ExaminedClaim& examined) {
  Block& block = report.blocks.front();
  block.text.append(claim_text(examined, block.text.lines().empty()));
  block.rows.push_back(claim_record(examined));
  report.status = worse_of(report.status, examined.finding.status);
}

Report run_claims(ClaimsOptions& options, Session& session) {
  const std::vector<Claim> claims = chosen_claims(options);
  if (!options.peers.empty()) options.settings.peers = read_peers(options.peers);
  Report report{"claims"};
  report.args = args_of(options, claims);
  report.tabular = true;
  report.headings = Headings::none;
  const std::vector<Json> finished = session.finished_rows(report.args);
  report.blocks.push_back(Block{0, "claims", "what the articles claim"});
  if (options.settings.quick)
    report.blocks.front().text.line("quick: fewer trials, smaller sizes and larger uncertainties than without --quick");
  double done = 0, total = 0;
  for (const Claim& claim : claims) total += claim.seconds;
  for (const Claim& claim : claims) {
    session.progress("examining " + claim.id, done, std::max(total, 1.0));
    const ExaminedClaim examined = examine_or_restore(claim, options, finished);
    add(report, examined);
    session.publish(report);
    for (const std::string& warning : examined.finding.warnings) session.warn(claim.id + ": " + warning);
    done += claim.seconds;
  }
  return report;
}

// Thresholds of every verdict, for --help.
std::string rules_text() {
  std::string text = "Verdicts, by the measured numbers alone:\n";
  for (const Claim& claim : all_claims()) text += fmt::format("  {}: {}\n", claim.id, claim.rule);
  text += fmt::format(
      "Times say nothing where other processes kept more than {:g} processors busy: then a claim that rests on them is not "
      "measurable here.",
      others_allowed);
  return text;
}

std::function<Report(Session&)> set_up_claims(CLI::App& app) {
  const auto options = std::make_shared<ClaimsOptions>();
  const auto parse_only = [options](const std::string& text) { options->only = parse_ids(text); };
  add_parsed(app, "--only", fmt::format("{},...", fmt::join(ids(), "|")), parse_only, "Examine these claims alone").default_str("all");
  add_flag(app, "--quick", options->settings.quick, "Under 15 seconds instead of two minutes, with larger uncertainties");
  add_text(app, "--peers", "FILE[,FILE...]", options->peers,
           "Rows that scripts/peers/run --out wrote, for the claims about PyTorch's kernels");
  add_seed(app, options->settings.seed);
  set_footer(app, rules_text());
  return [options](Session& session) { return run_claims(*options, session); };
}

}  // namespace

Experiment claims() { return {"claims", "What the articles claim in words, measured, with a verdict on each", {}, set_up_claims, true}; }

}  // namespace attn
