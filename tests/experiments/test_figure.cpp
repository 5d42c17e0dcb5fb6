// The pictures: their numbers against torch's, their colours, and how they fit.
#include <algorithm>
#include <cmath>
#include <random>

#include "catch.h"
#include "figure/color_scale.h"
#include "figure/column_headings.h"
#include "figure/head_table.h"
#include "figure/head_weights.h"
#include "figure/labels.h"
#include "figure/svg_picture.h"
#include "figure/terminal_picture.h"
#include "io/npy.h"
#include "machine/error.h"
#include "numpy/seed_sequence.h"
#include "support/sanitized.h"
#include "support/temporary_folder.h"
#include "support/xml.h"
#include "worked_example.h"

using namespace attn;

namespace {

const std::vector<std::string> words = {
    "the",       "internationalisation", "it", "a", "because", "[CLS]", "고양이", "naïve", "e\u0301te\u0301", "x < y & \"z\"", "\x1b[31m",
    "two\nlines"};

// Weights of random rows that sum to 1, with labels of all kinds.
HeatMap random_map(Index rows, Index columns, unsigned seed) {
  std::mt19937 random(seed);
  std::exponential_distribution<double> number;
  HeatMap map{"a title of some length, longer than a narrow terminal is wide",
              "query",
              "key",
              {},
              {},
              Matrix<double>(rows, columns),
              1,
              {"a note"}};
  for (Index i = 0; i < rows; ++i) {
    map.row_labels.push_back(words[random() % words.size()]);
    double sum = 0;
    for (Index j = 0; j < columns; ++j) sum += map.values(i, j) = std::pow(number(random), 3);
    for (Index j = 0; j < columns; ++j) map.values(i, j) /= sum;
  }
  for (Index j = 0; j < columns; ++j) map.column_labels.push_back(words[random() % words.size()]);
  map.top = scale_top(map.values);
  return map;
}

// CIE 1976 lightness, 0 to 100.
double lightness(Rgb color) {
  const double y = relative_luminance(color);
  return y > 0.008856 ? 116 * std::cbrt(y) - 16 : 903.3 * y;
}

Rgb from_hex(const std::string& text) {
  const auto channel = [&](std::size_t at) { return static_cast<std::uint8_t>(std::stoi(text.substr(at, 2), nullptr, 16)); };
  return {channel(1), channel(3), channel(5)};
}

}  // namespace

TEST_CASE("the sentence's figure has torch's weights, and finds the head that torch's weights name", "[figure]") {
  const HeadWeights weights = sentence_weights();
  const Tensor torch = read_npy_file(ATTN_DATA_DIR "/sentence/weights.npy");
  const Matrix<double> expected = torch.to_matrix<double>();
  REQUIRE(weights.values.rows() == expected.rows());
  for (Index at = 0; at < expected.size(); ++at) REQUIRE(weights.values.data()[at] == Approx(expected.data()[at]).margin(2e-6));
  const Index it = find_token("--query", "it", weights.queries);
  const Index cat = find_token("--key", "cat", weights.keys);
  Index best = 0;
  for (Index head = 0; head < 72; ++head) {
    if (expected(head * 12 + it, cat) > expected(best * 12 + it, cat)) best = head;
  }
  const HeadPlace found = strongest_head(weights, it, cat, {}, {});
  CHECK(found.layer * 12 + found.head == best);
  CHECK(found.layer == 5);
  CHECK(found.head == 11);
  CHECK(weights.head(5, 11)(it, cat) == Approx(0.6826).margin(5e-5));
  CHECK(strongest_head(weights, it, cat, 3, {}).layer == 3);
  CHECK(strongest_head(weights, it, cat, {}, 4).head == 4);
}

// The values' six rows of eight are independent, so that only the right weights give PyTorch's output.
TEST_CASE("document 1's figures, times its values, are PyTorch's outputs", "[figure]") {
  const Matrix<double> v = run_example(draw_example(1, document_sizes(1), Seed(0)), false).v;
  for (const bool causal : {false, true}) {
    const Matrix<double> expected =
        read_npy_file(std::string(ATTN_DATA_DIR "/pytorch/document1_") + (causal ? "causal.npy" : "full.npy")).to_matrix<double>();
    const HeadWeights weights = document_1_weights(causal);
    const MatrixView<const double> p = weights.head(0, 0);
    for (Index i = 0; i < 6; ++i) {
      for (Index x = 0; x < 8; ++x) {
        double output = 0;
        for (Index j = 0; j < 6; ++j) output += p(i, j) * v(j, x);
        CHECK(std::abs(output - expected(i, x)) < 2e-15);
      }
      for (Index j = i + 1; causal && j < 6; ++j) CHECK(p(i, j) == 0);
    }
  }
}

TEST_CASE("tokens are named by text or position", "[figure]") {
  const std::vector<std::string> tokens = {"the", "cat", "the", "7"};
  CHECK(find_token("--key", "cat", tokens) == 1);
  CHECK(find_token("--key", "7", tokens) == 3);
  CHECK(find_token("--key", "2", tokens) == 2);
  CHECK_THROWS_AS(find_token("--key", "the", tokens), UsageError);
  CHECK_THROWS_AS(find_token("--key", "dog", tokens), UsageError);
  CHECK_THROWS_AS(find_token("--key", "4", tokens), UsageError);
  CHECK_THROWS_AS(find_token("--key", "-1", tokens), UsageError);
}

TEST_CASE("the scale ends at the next round number", "[figure]") {
  const auto top_of = [](double value) { return scale_top(Matrix<double>(1, 1, value)); };
  CHECK(top_of(0) == 1);
  CHECK(top_of(0.437) == 0.5);
  CHECK(top_of(0.3) == 0.3);
  CHECK(top_of(0.96) == 1);
  CHECK(top_of(0.0123) == 0.02);
  CHECK(top_of(1) == 1);
}

TEST_CASE("equal steps of the scale are equal steps of lightness, and all text on it can be read", "[figure]") {
  constexpr int steps = 16;
  const double whole = lightness(scale_color(1)) - lightness(scale_color(0));
  CHECK(whole > 70);
  for (int i = 0; i < steps; ++i) {
    const double step = lightness(scale_color((i + 1.0) / steps)) - lightness(scale_color(i / static_cast<double>(steps)));
    CHECK(step == Approx(whole / steps).epsilon(0.15));
  }
  for (int i = 0; i <= 1000; ++i) {
    const Rgb color = scale_color(i / 1000.0);
    CHECK(contrast_ratio(color, text_color_on(color)) >= 4.5);
  }
  CHECK(contrast_ratio(label_grey, {0, 0, 0}) >= 4.5);
  CHECK(contrast_ratio(label_grey, {255, 255, 255}) >= 4.5);
  CHECK(contrast_ratio({0, 0, 0}, {255, 255, 255}) == Approx(21));
}

TEST_CASE("UTF-8 goes through unharmed, and what is none is marked", "[figure]") {
  for (const std::string text : {"", "plain", "naïve", "고양이", "𝛼+β", "é"}) CHECK(encode_utf8(decode_utf8(text)) == text);
  for (const std::string broken : {"\xFF", "\xC0\x80", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\xE2\x82"}) {
    CHECK(decode_utf8("a" + broken + "b").find(U'\uFFFD') == 1);
    CHECK(decode_utf8("a" + broken + "b").back() == U'b');
  }
  CHECK(visible("a\nb\x1b") == U"a\\nb\\x1b");
  CHECK(visible_ascii("naïve\t") == U"na?ve\\t");
  CHECK(display_width(U"고양이") == 6);
  CHECK(display_width(U"cafe\u0301") == 4);
  CHECK(letters_of(U"fe\u0301\u0301고").size() == 3);
}

TEST_CASE("what is too long keeps its beginning and its end", "[figure]") {
  CHECK(shortened(U"cat", 3, true) == U"cat");
  CHECK(shortened(U"internationalisation", 8, true) == U"inter…on");
  CHECK(shortened(U"internationalisation", 8, false) == U"inte..on");
  CHECK(wrapped(U"one two three", 8) == std::vector<std::u32string>{U"one two", U"three"});
  CHECK(wrapped(U"onetwothree", 4) == std::vector<std::u32string>{U"onet", U"woth", U"ree"});
  for (Index width = 2; width < 12; ++width) {
    for (const std::string& word : words) {
      CHECK(display_width(shortened(visible(word), width, true)) <= width);
      for (const std::u32string& line : wrapped(visible(word), width)) CHECK(display_width(line) <= width);
    }
  }
}

TEST_CASE("headings stand over their columns", "[figure]") {
  const std::vector<std::u32string> labels = {U"the", U"cat", U"sat"};
  CHECK(column_headings(labels, {2, 4, 20}, true) == std::vector<std::u32string>{U"  the cat sat"});
  CHECK(column_headings(labels, {2, 3, 20}, true) == std::vector<std::u32string>{U"     cat", U"  the │ sat"});
  CHECK(column_headings(labels, {2, 1, 20}, true) == std::vector<std::u32string>{U"  tcs", U"  haa", U"  ett"});
}

TEST_CASE("no line is wider than it may be, whatever the labels and the number of cells", "[figure]") {
  for (const Index columns : {1, 2, 5, 12, 31, 64, 100}) {
    const HeatMap map = random_map(5, columns, static_cast<unsigned>(columns));
    for (const Index width : {20, 33, 80, 200}) {
      for (const bool color : {false, true}) {
        for (const bool utf8 : {false, true}) {
          const TerminalStyle style{width, color, utf8};
          Text text = terminal_title(map, style);
          text.append(terminal_picture(map, style)).append(head_table(map.values.view(), width));
          for (const Line& line : text.lines()) {
            INFO(columns << " columns, width " << width << ": " << plain(line));
            CHECK(display_width(decode_utf8(plain(line))) <= width);
            for (const char c : plain(line)) REQUIRE((utf8 || static_cast<unsigned char>(c) < 0x80));
            for (const char c : plain(line)) REQUIRE(static_cast<unsigned char>(c) >= 0x20);
          }
        }
      }
    }
  }
}

TEST_CASE("cells show their values, rows their labels, in every style", "[figure]") {
  const HeatMap map = random_map(3, 6, 4);
  for (const bool color : {false, true}) {
    for (const bool utf8 : {false, true}) {
      const std::string text = terminal_picture(map, {80, color, utf8}).str();
      for (Index i = 0; i < 3; ++i) {
        const std::string& label = map.row_labels[static_cast<std::size_t>(i)];
        CHECK(text.find(encode_utf8(utf8 ? visible(label) : visible_ascii(label))) != std::string::npos);
        for (Index j = 0; j < 6; ++j) CHECK(text.find(fmt::format("{:.2f}", map.values(i, j))) != std::string::npos);
      }
    }
  }
}

TEST_CASE("a coloured cell has the colour of its value, and every style carries it", "[figure]") {
  HeatMap map{"", "query", "key", {"0"}, {"0", "1"}, Matrix<double>(1, 2), 0.5, {}};
  map.values(0, 0) = 0.5;
  map.values(0, 1) = 0.25;
  const Text text = terminal_picture(map, {80, true, true});
  std::size_t yellow = 0;
  std::size_t middle = 0;
  const Rgb half = scale_color(0.5);
  for (const Line& line : text.lines()) {
    if (plain(line).find("0.50") == std::string::npos) continue;
    for (const Span& span : line) {
      if (span.style == "48;2;253;231;37;38;2;0;0;0") ++yellow;
      if (span.style.starts_with(fmt::format("48;2;{};{};{};38;2;", half.r, half.g, half.b))) ++middle;
    }
  }
  CHECK(yellow == 1);
  CHECK(middle == 1);
  const Text shaded = terminal_picture(map, {80, false, true});
  for (const Line& line : shaded.lines()) {
    for (const Span& span : line) CHECK((span.style.empty() || span.style == own_color));
  }
}

TEST_CASE("an SVG picture is well-formed, whole, and can be read on white and on black", "[figure]") {
  const HeatMap map = random_map(6, 7, 11);
  const std::vector<XmlElement> elements = parse_xml(svg_picture(map));
  CHECK(elements.back().name == "svg");
  CHECK(elements.back().attributes.at("xmlns") == "http://www.w3.org/2000/svg");
  const Rgb outside = from_hex(elements.back().attributes.at("fill"));
  CHECK(contrast_ratio(outside, {0, 0, 0}) >= 4.5);
  CHECK(contrast_ratio(outside, {255, 255, 255}) >= 4.5);
  std::multiset<std::string> texts;
  Rgb cell{};
  const double width = std::stod(elements.back().attributes.at("width"));
  const double height = std::stod(elements.back().attributes.at("height"));
  for (const XmlElement& element : elements) {
    if (element.name == "rect" && element.attributes.at("fill").starts_with("#")) cell = from_hex(element.attributes.at("fill"));
    if (element.name != "text") continue;
    texts.insert(element.text);
    CHECK(std::stod(element.attributes.at("x")) < width);
    CHECK(std::stod(element.attributes.at("y")) < height);
    // A cell's value is written right after its field.
    if (element.attributes.count("fill") == 1) CHECK(contrast_ratio(from_hex(element.attributes.at("fill")), cell) >= 4.5);
  }
  for (const auto* labels : {&map.row_labels, &map.column_labels}) {
    for (const std::string& label : *labels) CHECK(texts.count(encode_utf8(visible(label))) >= 1);
  }
  for (Index at = 0; at < map.values.size(); ++at) CHECK(texts.count(fmt::format("{:.2f}", map.values.data()[at])) >= 1);
  CHECK(texts.count("0") >= 1);
  CHECK(texts.count(fmt::format("{:.4g}", map.top)) >= 1);
}

TEST_CASE("large pictures drop digits and labels, not cells", "[figure]") {
  for (const Index size : {40, 100, 256}) {
    const std::vector<XmlElement> elements = parse_xml(svg_picture(random_map(size, size, 3)));
    CHECK(std::count_if(elements.begin(), elements.end(), [](const XmlElement& e) { return e.name == "rect"; }) == size * size + 1);
    if (sanitized) break;
  }
}

TEST_CASE("weights from a file: shapes, tokens and what is refused", "[figure]") {
  const TemporaryFolder folder;
  const std::string torch = ATTN_DATA_DIR "/sentence/weights.npy";
  CHECK(weights_from_file(torch, "").layers == 6);
  CHECK(weights_from_file(torch, "").heads == 12);
  CHECK(weights_from_file(torch, "").keys[3] == "3");
  const std::string json = ATTN_DATA_DIR "/sentence/sentence.json";
  CHECK(weights_from_file(torch, json).queries[8] == "it");
  const auto file = [&folder](const std::string& name, const std::string& text) {
    folder.write(name, text);
    return (folder.path() / name).string();
  };
  CHECK(weights_from_file(torch, file("lines", "[CLS]\na\nb\nc\nd\ne\nf\ng\nh\ni\n\nk")).keys[10].empty());
  CHECK(weights_from_file(torch, file("list", R"(["0","1","2","3","4","5","6","7","8","9","a","\n"])")).keys[11] == "\n");
  CHECK_THROWS_AS(weights_from_file(torch, file("few", "a\nb\n")), UsageError);
  CHECK_THROWS_AS(weights_from_file(torch, file("numbers", "[1, 2]")), UsageError);
  CHECK_THROWS_AS(weights_from_file(ATTN_DATA_DIR "/pytorch/document1_full.npy", ""), UsageError);  // outputs, some below 0
  CHECK_THROWS_AS(weights_from_file((folder.path() / "none.npy").string(), ""), FileError);
}
