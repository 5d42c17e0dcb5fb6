#include "context.h"

#include "machine/isa_targets.h"
#include "machine/threads.h"
#include "measure/build_facts.h"
#include "measure/clock.h"
#include "measure/machine_facts.h"

namespace attn {
namespace {

template <class T>
Json or_null(const std::optional<T>& fact) {
  return fact.has_value() ? Json(*fact) : Json();
}

void add_build(Json& context) {
  const BuildFacts build = build_facts();
  context["library_build_type"] = build.library_build_type;
  context["compiler"] = build.compiler;
  context["compiler_flags"] = build.compiler_flags;
  context["attn_version"] = build.attn_version;
  context["git_sha"] = or_null(build.git_sha);
  context["git_dirty"] = or_null(build.git_dirty);
}

void add_machine(Json& context, const MachineFacts& machine) {
  context["host_name"] = machine.host_name;
  context["cpu_model"] = or_null(machine.cpu_model);
  context["num_cpus"] = machine.num_cpus;
  context["mhz_per_cpu"] = or_null(machine.mhz_per_cpu);
  context["cpu_scaling_enabled"] = or_null(machine.cpu_scaling_enabled);
  context["caches"] = Json::array();
  for (const CacheFacts& cache : machine.caches) {
    context["caches"].push_back(
        {{"type", cache.type}, {"level", cache.level}, {"size", cache.size_bytes}, {"num_sharing", cache.num_sharing}});
  }
  context["memory_total_bytes"] = or_null(machine.memory.total_bytes);
  context["memory_available_bytes"] = or_null(machine.memory.available_bytes);
  context["huge_pages"] = or_null(machine.huge_pages.transparent);
}

}  // namespace

Json json_context(int argc, const char* const* argv) {
  const RunFacts run = run_facts(argc, argv);
  Json context = Json::object();
  context["date"] = run.date;
  context["executable"] = run.executable;
  context["argv"] = run.argv;
  add_machine(context, machine_facts());
  context["load_avg"] = run.load_avg;
  context["isa"] = active_target();
  context["threads"] = threads();
  context["timer_resolution_ns"] = clock_resolution_ns();
  add_build(context);
  return context;
}

}  // namespace attn
