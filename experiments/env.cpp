// `attn env`: what this machine is, and what it can do at most.
#include <memory>

#include "context.h"
#include "experiment.h"
#include "machine/isa_targets.h"
#include "machine/memory_limit.h"
#include "machine/threads.h"
#include "measure/build_facts.h"
#include "measure/ceilings.h"
#include "measure/core_round_trip.h"

namespace attn {
namespace {

std::string or_unknown(const std::optional<std::string>& fact) { return fact.value_or("unknown"); }

std::string bytes_text(const std::optional<std::uint64_t>& bytes, const char* otherwise) {
  return bytes ? format_bytes(*bytes) : otherwise;
}

Block machine_block(const MachineFacts& machine) {
  Block block{0, "machine", "the machine"};
  Text& text = block.text;
  const auto add = [&](const std::string& name, const std::string& value) {
    text.line(fmt::format("{:<22} ", name)).add(value, Cell::measured);
  };
  add("CPU", or_unknown(machine.cpu_model));
  add("logical CPUs", std::to_string(machine.num_cpus));
  add("frequency", machine.mhz_per_cpu ? fmt::format("{:.0f} MHz", *machine.mhz_per_cpu) : "unknown");
  add("frequency scaling", machine.cpu_scaling_enabled ? (*machine.cpu_scaling_enabled ? "on" : "off") : "cannot be seen");
  for (const CacheFacts& cache : machine.caches) {
    add(fmt::format("L{} {}", cache.level, cache.type), fmt::format("{} KiB, shared by {}", cache.size_bytes / 1024, cache.num_sharing));
  }
  add("memory", fmt::format("{}, available {}", bytes_text(machine.memory.total_bytes, "unknown"),
                            bytes_text(machine.memory.available_bytes, "unknown")));
  for (const MemoryLimit& limit : memory_limits()) {
    const bool binds = !machine.memory.total_bytes || limit.free_bytes < *machine.memory.total_bytes;
    if (binds) add("memory limit", fmt::format("{} leaves {}", limit.name, format_bytes(limit.free_bytes)));
  }
  add("huge pages", or_unknown(machine.huge_pages.transparent));
  add("instruction sets", fmt::format("{} (in use: {})", fmt::join(available_targets(), " "), active_target()));
  add("threads", fmt::format("{} (default {})", threads(), default_threads()));
  const BuildFacts build = build_facts();
  add("build", fmt::format("attn {} {}, {}, {}", build.attn_version, build.git_sha.value_or("").substr(0, 12), build.compiler,
                           build.library_build_type));
  add("compiler flags", build.compiler_flags);
  return block;
}

Block ceilings_block(const Ceilings& c, const std::optional<CoreRoundTrips>& trips) {
  Block block{0, "ceilings", "measured ceilings"};
  const auto add = [&](const std::string& id, const std::string& name, double value, const std::string& unit) {
    block.text.line(fmt::format("{:<44} ", name)).add(fmt::format("{:9.1f}", value), Cell::measured).add(" " + unit);
    block.rows.push_back(Row().exact("ceiling", id).exact("description", name).measured("value", value).exact("unit", unit));
  };
  const std::string kind = c.f32_one_thread.fma ? "FMA" : "multiply and add";
  const std::string all = fmt::format("{} thread{}", c.threads, c.threads == 1 ? "" : "s");
  add("fma_f32_one_thread", kind + " rate, float32, 1 thread", c.f32_one_thread.gflops, "GFLOP/s");
  add("fma_f64_one_thread", kind + " rate, float64, 1 thread", c.f64_one_thread.gflops, "GFLOP/s");
  add("fma_f32_all_threads", kind + " rate, float32, " + all, c.f32_all_threads.gflops, "GFLOP/s");
  add("fma_f64_all_threads", kind + " rate, float64, " + all, c.f64_all_threads.gflops, "GFLOP/s");
  const std::string size = fmt::format("{}{}", format_bytes(c.bandwidth_bytes), c.beyond_caches ? "" : " (may fit into the last cache)");
  add("read", "read, " + size, c.read_gbps, "GB/s");
  add("write", "write, " + size, c.write_gbps, "GB/s");
  add("streaming_write", "streaming write, " + size, c.streaming_write_gbps, "GB/s");
  add("copy", "copy (bytes read + written), " + size, c.copy_gbps, "GB/s");
  add("first_touch_small_one_thread", "first touch, 4-KiB pages, 1 thread", c.small_pages_one_thread.gbps, "GB/s");
  add("first_touch_huge_one_thread", "first touch, huge pages, 1 thread", c.huge_pages_one_thread.gbps, "GB/s");
  add("first_touch_small_all_threads", "first touch, 4-KiB pages, " + all, c.small_pages_all_threads.gbps, "GB/s");
  add("first_touch_huge_all_threads", "first touch, huge pages, " + all, c.huge_pages_all_threads.gbps, "GB/s");
  if (trips && trips->pairs == 1) {
    add("core_round_trip", "round trip of a cache line, CPU to CPU", trips->fastest_ns, "ns");
  } else if (trips) {
    add("core_round_trip_nearest", "round trip of a cache line, nearest CPUs", trips->fastest_ns, "ns");
    add("core_round_trip_farthest", "round trip of a cache line, farthest CPUs", trips->slowest_ns, "ns");
  }
  return block;
}

Report run_env() {
  Report report{"env"};
  report.tabular = true;
  report.headings = Headings::none;
  report.blocks.push_back(machine_block(machine_facts()));
  report.blocks.push_back(ceilings_block(measure_ceilings(threads()), measure_core_round_trips()));
  return report;
}

}  // namespace

Experiment env() {
  return {"env", "This machine, and its measured ceilings of arithmetic and memory", {}, [](CLI::App&) {
            return [](Session&) { return run_env(); };
          }};
}

}  // namespace attn
