#include "measure/machine_facts.h"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <ctime>
#include <string_view>

#include "machine/isa_targets.h"
#include "machine/threads.h"
#include "measure/clock.h"

namespace attn {
namespace {

std::string iso_date(std::time_t now) {
  std::tm local{};
  localtime_r(&now, &local);
  std::array<char, 40> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S%z", &local);
  const std::string_view date(text.data(), length);
  const std::size_t minutes = length - 2;  // +0200 -> +02:00
  return std::string(date.substr(0, minutes)) + ":" + std::string(date.substr(minutes));
}

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

}  // namespace

MachineFacts machine_facts() {
  MachineFacts facts;
  facts.host_name = host_name();
  add_cpu_facts(facts);
  facts.memory = memory_facts();
  facts.huge_pages = huge_page_facts();
  return facts;
}

RunFacts run_facts(int argc, const char* const* argv) {
  RunFacts facts;
  facts.date = iso_date(std::time(nullptr));
  facts.argv.assign(argv, argv + argc);
  if (argc > 0) facts.executable = argv[0];
  std::array<double, 3> load{};
  const int known = getloadavg(load.data(), static_cast<int>(load.size()));
  if (known > 0) facts.load_avg.assign(load.begin(), load.begin() + known);
  facts.isa = active_target();
  facts.threads = threads();
  facts.isa_targets = available_targets();
  facts.timer_resolution_ns = clock_resolution_ns();
  return facts;
}

}  // namespace attn
