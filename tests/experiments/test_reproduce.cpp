#include "reproduce.h"

#include <cctype>
#include <cmath>

#include "catch.h"
#include "io/read_file.h"

using namespace attn;

namespace {

std::string document_file(const std::string& name) { return read_file(std::string(ATTN_DATA_DIR) + "/documents/" + name); }

// The blocks take a while, and no test changes them.
const std::vector<Block>& blocks() {
  static Status status = Status::passed;
  static const std::vector<Block> all = reproduce_blocks(true, status);
  return all;
}

}  // namespace

TEST_CASE("every block agrees with its document") {
  CHECK(blocks().size() == 10);
  for (const Block& block : blocks()) {
    INFO(block.document << "-" << block.id);
    CHECK(disagreement(block, document_file).empty());
  }
}

TEST_CASE("any digit changed in a document's copy is seen, in every block") {
  for (const Block& block : blocks()) {
    const std::string name = fmt::format("{}-{}.txt", block.document, block.id);
    const std::string original = document_file(name);
    for (std::size_t at = 0; at < original.size(); ++at) {
      if (std::isdigit(static_cast<unsigned char>(original[at])) == 0) continue;
      std::string changed = original;
      changed[at] = changed[at] == '9' ? '8' : static_cast<char>(changed[at] + 1);
      INFO(name << " at " << at << ": " << changed);
      CHECK_FALSE(disagreement(block, [&](const std::string& file) { return file == name ? changed : document_file(file); }).empty());
    }
  }
}

TEST_CASE("the digits are no luck: every rounded cell lies far from its rounding boundary") {
  for (const Block& block : blocks()) {
    if (block.rounded.empty()) continue;
    const Margin margin = smallest_margin(block);
    INFO(block.id << ": " << margin.cell << " " << margin.multiple);
    CHECK(margin.multiple > 1e6);
  }
}

TEST_CASE("a margin is the distance to the nearest boundary over the rounding error") {
  Block block{1, "made-up", ""};
  block.rounded.push_back({"far", 0.25, 0.25L + 0x1p-40L, 1});  // on the boundary between 0.2 and 0.3
  CHECK(smallest_margin(block).multiple == 0);
  block.rounded = {{"near", 0.375, 0.375L + 0x1p-40L, 0}};  // 0.125 from 0.5
  CHECK(smallest_margin(block).multiple == Approx(0.125 * 0x1p40));
  block.rounded = {{"exact", 0.375, 0.375L, 0}};
  CHECK(std::isinf(smallest_margin(block).multiple));
  block.rounded = {{"negative", -0.625, -0.625L - 0x1p-40L, 0}};  // 0.125 from -0.5
  CHECK(smallest_margin(block).multiple == Approx(0.125 * 0x1p40));
}
