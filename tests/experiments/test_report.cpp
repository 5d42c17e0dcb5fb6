#include <limits>
#include <nlohmann/json.hpp>

#include "catch.h"
#include "machine/error.h"
#include "report/compare_text.h"
#include "report/printers.h"

using namespace attn;

namespace {

Report small_sweep() {
  Report report{"sweep"};
  report.tabular = true;
  report.args = {{"n", {1, 2}}};
  Block block{1, "timing", "two rows"};
  block.text.line("n=1 took ").add("  3.5", Cell::time_ms).add(" ms");
  block.rows.push_back(Row().exact("n", 1).measured("time_s", 0.0035).exact("note", "a,\"b\"|c"));
  block.rows.push_back(Row().exact("n", 2).exact("value", std::numeric_limits<double>::quiet_NaN()).measured("samples_ns", {1, 2, 3}));
  report.blocks.push_back(block);
  return report;
}

Report small_arrays() {
  Report report{"arrays"};
  Block block{2, "mask", "a matrix"};
  block.text.line("[[1. 2.]\n [3. -inf]]");
  block.arrays.push_back({"m", {2, 2}, {1, 2, 3, -std::numeric_limits<double>::infinity()}});
  report.blocks.push_back(block);
  return report;
}

const Json context = {{"host_name", "here"}, {"load_avg", {0.5, 0.25}}};

}  // namespace

TEST_CASE("JSON parses, keeps every field, and has null for what is not finite") {
  const auto document = nlohmann::json::parse(print_json(small_sweep(), context).str());
  CHECK(document["schema_version"] == 1);
  CHECK(document["context"]["host_name"] == "here");
  CHECK(document["args"]["n"] == nlohmann::json({1, 2}));
  REQUIRE(document["results"].size() == 2);
  CHECK(document["results"][0]["experiment"] == "sweep");
  CHECK(document["results"][0]["note"] == "a,\"b\"|c");
  CHECK(document["results"][1]["value"].is_null());
  CHECK(document["results"][1]["samples_ns"].size() == 3);
  const auto arrays = nlohmann::json::parse(print_json(small_arrays(), context).str());
  CHECK(arrays["results"][0]["m"][1][0] == 3);
  CHECK(arrays["results"][0]["m"][1][1].is_null());
}

TEST_CASE("JSON lines hold the context first and then one object per row") {
  const std::string text = print_jsonl(small_sweep(), context).str();
  const auto end = text.find('\n');
  CHECK(nlohmann::json::parse(text.substr(0, end))["context"]["load_avg"][1] == 0.25);
  const auto second = text.substr(end + 1, text.find('\n', end + 1) - end - 1);
  CHECK(nlohmann::json::parse(second)["n"] == 1);
}

TEST_CASE("doubles come back from JSON bit for bit") {
  Report report{"numbers"};
  Block block{0, "", ""};
  const std::vector<double> values = {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, -0.0, 123456789.0};
  block.arrays.push_back(make_vector("values", values));
  report.blocks.push_back(block);
  const auto document = nlohmann::json::parse(print_json(report, context).str());
  CHECK(document["results"][0]["values"].get<std::vector<double>>() == values);
}

TEST_CASE("CSV quotes what needs it; a matrix is long rows") {
  CHECK(print_csv(small_sweep()).str() == "n,time_s,note,value\n1,0.0035,\"a,\"\"b\"\"|c\",\n2,,,nan\n");
  CHECK(print_csv(small_arrays()).str() ==
        "document,block,row,column,value\n2,mask/m,0,0,1.0\n2,mask/m,0,1,2.0\n2,mask/m,1,0,3.0\n2,mask/m,1,1,-inf\n");
}

TEST_CASE("Markdown escapes bars in a table and fences the text of matrices") {
  const std::string table = print_markdown(small_sweep()).str();
  CHECK(table.starts_with("| n | time_s | note | value |\n| --- | --- | --- | --- |\n| 1 | 0.0035 | a,\"b\"\\|c |  |\n"));
  CHECK(print_markdown(small_arrays()).str().find("```text\n[[1. 2.]\n") != std::string::npos);
}

TEST_CASE("every format passes over its measured cells and sees each computed one") {
  for (const Format format : {Format::text, Format::json, Format::jsonl, Format::csv, Format::markdown}) {
    INFO("format " << static_cast<int>(format));
    const Report report = small_sweep();
    const std::string before = print(report, format, context).str();
    Report slower = report;
    slower.blocks[0].rows[0] = Row().exact("n", 1).measured("time_s", 12345.678).exact("note", "a,\"b\"|c");
    slower.blocks[0].rows[1] = Row().exact("n", 2).exact("value", std::numeric_limits<double>::quiet_NaN()).measured("samples_ns", {1});
    slower.blocks[0].text = Text().line("n=1 took ").add("12345.7", Cell::time_ms).add(" ms");
    CHECK_FALSE(
        compare_text(print(slower, format, {{"host_name", "there"}, {"load_avg", Json::array()}}), before, MeasuredCells::pass_over));
    Report other = report;
    other.blocks[0].rows[0] = Row().exact("n", 3).measured("time_s", 0.0035).exact("note", "a,\"b\"|c");
    other.blocks[0].text = Text().line("n=3 took ").add("  3.5", Cell::time_ms).add(" ms");
    const auto difference = compare_text(print(other, format, context), before, MeasuredCells::pass_over);
    REQUIRE(difference);
    CHECK(difference->count == 1);
  }
}

TEST_CASE("a checked cell must be in its form") {
  const Text time = Text().line("t=").add("  3.5", Cell::time_ms).add(" ms");
  CHECK_FALSE(compare_text(time, "t= 99.9 ms\n", MeasuredCells::check));
  for (const char* wrong : {"t= 99 ms", "t=-1.0 ms", "t=  0.0 ms", "t=abc ms", "t= 1.5  ms", "t= 1.5 s", "t= ms", "x= 1.5 ms"}) {
    INFO(wrong);
    CHECK(compare_text(time, wrong, MeasuredCells::check));
  }
  CHECK(compare_text(Text().line("t=").add("-3.5", Cell::time_ms).add(" ms"), "t= 99.9 ms", MeasuredCells::check));
  const Text error = Text().line("d=").add("4.4e-16", Cell::rounding_error);
  CHECK_FALSE(compare_text(error, "d=8.9e-16", MeasuredCells::check));
  CHECK_FALSE(compare_text(error, "d=0.0e+00", MeasuredCells::check));
  CHECK(compare_text(error, "d=1.1e-15", MeasuredCells::check));
  CHECK(compare_text(Text().line("d=").add("2e-15", Cell::rounding_error), "d=4.4e-16", MeasuredCells::check));
  CHECK(compare_text(Text().line("d=").add("nan", Cell::rounding_error), "d=4.4e-16", MeasuredCells::check));
}

TEST_CASE("lines too many and too few are differences, and the first is named") {
  const Text text = Text().line("a").line("b");
  CHECK_FALSE(compare_text(text, "a\nb", MeasuredCells::check));
  CHECK(compare_text(text, "a\n", MeasuredCells::check)->line == 2);
  CHECK(compare_text(text, "a\nb\nc\n", MeasuredCells::check)->expected == "c");
  CHECK(compare_text(text, "", MeasuredCells::check)->count == 2);
  CHECK(compare_text(text, "a\nB\n", MeasuredCells::check)->found == "b");
}

TEST_CASE("an unknown format is named") { CHECK_THROWS_AS(parse_format("jsn"), UsageError); }
