// The only place that prints an error and that decides the exit code:
// 0 all well; 1 a check failed or a row did; 2 usage; 3 a file or memory.
#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "machine/error.h"
#include "program.h"

namespace {

constexpr int exit_usage = 2;
constexpr int exit_file_or_memory = 3;

int report_error(int code, const std::string& message) {
  std::fprintf(stderr, "attn: %s\n", message.c_str());
  return code;
}

}  // namespace

int main(int argc, char* argv[]) {
  try {
    return attn::run_program(argc, argv);
  } catch (const attn::UsageError& error) {
    return report_error(exit_usage, error.what());
  } catch (const attn::Error& error) {
    return report_error(exit_file_or_memory, error.what());
  } catch (const std::bad_alloc&) {
    return report_error(exit_file_or_memory, "memory: allocate: the system refused");
  } catch (const std::exception& error) {
    return report_error(exit_file_or_memory, std::string("internal: ") + error.what());
  }
}
