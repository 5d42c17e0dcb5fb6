// Texts that fuzzing found are numbers and lists, or refused in one line, also where there is no fuzzer.
#include <filesystem>

#include "catch.h"
#include "io/read_file.h"
#include "machine/error.h"
#include "options/number_list.h"

using namespace attn;

namespace {

// Whether `parse` takes it. Text with line breaks is quoted as it is, and cannot come from a command line of one line.
template <class Parse>
bool takes(const std::string& text, const Parse& parse) {
  try {
    parse("--x", text);
    return true;
  } catch (const UsageError& error) {
    const bool one_line = std::string(error.what()).find('\n') == std::string::npos;
    CHECK((one_line || text.find('\n') != std::string::npos));
    return false;
  }
}

}  // namespace

TEST_CASE("texts that fuzzing found are numbers and lists or refused in one line") {
  Index lists = 0;
  Index numbers = 0;
  Index refused = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(ATTN_DATA_DIR) + "/fuzz/number_list")) {
    INFO(entry.path());
    const std::string text = read_file(entry.path());
    const bool list = takes(text, parse_sizes);
    const bool number = takes(text, parse_number);
    lists += list ? 1 : 0;
    numbers += number ? 1 : 0;
    refused += !list && !number ? 1 : 0;
  }
  CHECK((lists >= 5 && numbers >= 5 && refused >= 10));
}
