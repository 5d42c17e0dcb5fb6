#include "machine/isa_targets.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "machine/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "machine/isa_targets.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {

// Compiled once per target, each answering with its own.
std::int64_t compiled_target() { return HWY_TARGET; }

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn {
namespace {

HWY_EXPORT(compiled_target);

// Highway reports a forced target as the only one supported, so what the processor has is asked once, before any forcing. The baseline
// needs no asking; it is added because Highway's library may have been built with another portable one (EMU128 or SCALAR).
std::int64_t usable_targets() {
  static const std::int64_t targets = (hwy::SupportedTargets() & HWY_TARGETS) | HWY_STATIC_TARGET;
  return targets;
}

// Bits of `targets`, best first: Highway numbers the better target lower.
std::vector<std::int64_t> single_targets(std::int64_t targets) {
  std::vector<std::int64_t> result;
  for (; targets != 0; targets &= targets - 1) result.push_back(targets & -targets);
  return result;
}

std::string lower_case(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

// Names by which people know the targets. The portable one is SCALAR or EMU128, as the compiler allows.
std::string without_alias(const std::string& name) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 10> aliases = {{{"avx512", "avx3"},
                                                                                             {"avx-512", "avx3"},
                                                                                             {"avx512_dl", "avx3_dl"},
                                                                                             {"sse4.1", "sse4"},
                                                                                             {"sse4.2", "sse4"},
                                                                                             {"sse4_2", "sse4"},
                                                                                             {"asimd", "neon"},
                                                                                             {"none", "scalar"},
                                                                                             {"portable", "scalar"},
                                                                                             {"emu128", "scalar"}}};
  std::string plain = name;
  for (const auto& [alias, target] : aliases) {
    if (alias == name) plain = target;
  }
  return plain == "scalar" && (HWY_TARGETS & HWY_EMU128) != 0 ? "emu128" : plain;
}

}  // namespace

std::vector<std::string> available_targets() {
  std::vector<std::string> names;
  for (const std::int64_t target : single_targets(usable_targets())) names.emplace_back(hwy::TargetName(target));
  return names;
}

std::string active_target() {
  usable_targets();
  return hwy::TargetName(HWY_DYNAMIC_DISPATCH(compiled_target)());
}

void force_target(std::string_view name) {
  const std::string wanted = without_alias(lower_case(name));
  for (const std::int64_t target : single_targets(usable_targets())) {
    if (lower_case(hwy::TargetName(target)) != wanted) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    return;
  }
  std::string names;
  for (const std::string& available : available_targets()) names += (names.empty() ? "" : ", ") + available;
  throw UsageError("isa: expected one of " + names + ", which this build and this processor have, found '" + std::string(name) + "'");
}

void unforce_target() {
  const std::int64_t targets = usable_targets();
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(targets);
}

void force_target_from_environment() {
  const char* name = std::getenv("ATTN_ISA");
  if (name != nullptr && *name != '\0') force_target(name);
}

}  // namespace attn
#endif  // HWY_ONCE
