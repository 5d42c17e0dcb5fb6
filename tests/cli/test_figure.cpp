// `attn figure` as its users see it: in terminals of two widths, with and without colour and UTF-8, in files and in every format.
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "catch.h"
#include "cli/run_attn.h"
#include "io/npy.h"
#include "io/read_file.h"
#include "support/temporary_folder.h"
#include "support/xml.h"

using Json = nlohmann::json;

namespace {

const std::vector<std::vector<std::string>> figures = {
    {"figure", "full"}, {"figure", "causal"}, {"figure", "sentence"}, {"figure", "sentence", "--all-heads"}};

// What the program writes to a terminal of `columns` columns. The environment is only what is given, and a PATH.
std::string on_terminal(std::vector<std::string> arguments, unsigned short columns, const std::vector<std::string>& environment) {
  arguments.insert(arguments.begin(), ATTN_PROGRAM);
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::vector<std::string> variables = environment;
  std::vector<char*> envp;
  for (std::string& variable : variables) envp.push_back(variable.data());
  envp.push_back(nullptr);
  winsize size{};
  size.ws_col = columns;
  size.ws_row = 50;
  int terminal = -1;
  const pid_t child = forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    execve(ATTN_PROGRAM, argv.data(), envp.data());
    _exit(127);
  }
  REQUIRE(child > 0);
  std::string output;
  char buffer[4096];
  for (ssize_t count = 0; (count = read(terminal, buffer, sizeof buffer)) > 0;) output.append(buffer, static_cast<std::size_t>(count));
  close(terminal);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WEXITSTATUS(status) == 0);
  output.erase(std::remove(output.begin(), output.end(), '\r'), output.end());
  return output;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

std::string without_escapes(const std::string& text) { return std::regex_replace(text, std::regex("\x1b\\[[0-9;]*m"), ""); }

// Of text whose characters are one column wide each, as all of these figures' are.
std::size_t width_of(const std::string& line) {
  return static_cast<std::size_t>(
      std::count_if(line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

bool is_ascii(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

const std::string utf8 = "LANG=C.UTF-8";
const std::string many_colors = "COLORTERM=truecolor";

}  // namespace

TEST_CASE("figures stay within terminals of 80 and 200 columns", "[figure]") {
  for (const auto& figure : figures) {
    for (const unsigned short columns : {80, 200}) {
      for (const std::vector<std::string>& environment : {std::vector<std::string>{utf8, many_colors}, {utf8}, {"LANG=C"}}) {
        const std::string text = without_escapes(on_terminal(figure, columns, environment));
        std::size_t widest = 0;
        for (const std::string& line : lines_of(text)) widest = std::max(widest, width_of(line));
        INFO(figure[1] << " on " << columns << " columns:\n" << text);
        CHECK(widest <= columns);
        CHECK(widest > 40);
      }
    }
  }
}

TEST_CASE("colour is 24-bit or none", "[figure]") {
  for (const auto& figure : figures) {
    const auto has_color = [&](const std::vector<std::string>& environment) {
      return contains(on_terminal(figure, 80, environment), "\x1b[48;2;");
    };
    CHECK(has_color({utf8, many_colors}));
    CHECK(has_color({utf8, "COLORTERM=24bit"}));
    CHECK_FALSE(has_color({utf8}));
    CHECK_FALSE(has_color({utf8, "COLORTERM=yes"}));
    CHECK_FALSE(contains(on_terminal(figure, 80, {utf8, many_colors, "NO_COLOR=1"}), "\x1b"));
    std::vector<std::string> chosen = figure;
    chosen.insert(chosen.end(), {"--color", "never"});
    CHECK_FALSE(contains(on_terminal(chosen, 80, {utf8, many_colors}), "\x1b"));
    CHECK_FALSE(contains(run_attn(figure, {{{"COLORTERM", "truecolor"}}, "", "", ""}).out, "\x1b"));
    chosen.back() = "always";
    CHECK(contains(run_attn(chosen).out, "\x1b[48;2;"));
    chosen.insert(chosen.end(), {"--format", "markdown"});
    CHECK_FALSE(contains(run_attn(chosen).out, "\x1b"));
  }
}

TEST_CASE("without UTF-8 figures are ASCII", "[figure]") {
  for (const auto& figure : figures) {
    CHECK(is_ascii(on_terminal(figure, 80, {"LANG=C"})));
    CHECK(is_ascii(on_terminal(figure, 80, {"LANG=C.UTF-8", "LC_ALL=C"})));
    CHECK_FALSE(is_ascii(on_terminal(figure, 80, {"LANG=C.UTF-8"})));
  }
}

TEST_CASE("the sentence's figure names its tokens and what it shows", "[figure]") {
  const std::string text = run_attn({"figure", "sentence"}).out;
  for (const char* token : {"[CLS]", "the", "cat", "sat", "on", "mat", "because", "it", "was", "tired", "[SEP]"}) {
    CHECK(contains(text, std::string(" ") + token));
  }
  CHECK(contains(text, "layer 5, head 11"));
  CHECK(contains(text, "\"it\" gives 0.683 of its attention to \"cat\", the most of 72 heads"));
  CHECK(contains(run_attn({"figure", "sentence", "--layer", "3"}).out, "layer 3, head 1"));
  CHECK(contains(run_attn({"figure", "sentence", "--layer", "0", "--head", "2"}).out, "layer 0, head 2"));
}

TEST_CASE("figures in JSON are nested arrays of unrounded weights", "[figure]") {
  const Json document = Json::parse(run_attn({"figure", "sentence", "--json"}).out);
  REQUIRE(document["results"].size() == 2);
  const Json& row = document["results"][0];
  CHECK(row["layer"] == 5);
  CHECK(row["head"] == 11);
  CHECK(row["query"] == "it");
  CHECK(row["keys"].size() == 12);
  const Json& weights = document["results"][1]["weights"];
  REQUIRE(weights.size() == 12);
  for (const Json& line : weights) {
    double sum = 0;
    for (const Json& weight : line) sum += weight.get<double>();
    CHECK(sum == Approx(1).margin(1e-6));
  }
  CHECK(weights[8][2] == row["weight"]);
  const Json all = Json::parse(run_attn({"figure", "sentence", "--all-heads", "--json"}).out);
  REQUIRE(all["results"].size() == 73);
  CHECK(all["results"][71]["weight"] == row["weight"]);
  CHECK(all["results"][72]["weights_by_head"][5][11] == row["weight"]);
  CHECK(lines_of(run_attn({"figure", "sentence", "--all-heads", "--format", "csv"}).out).size() == 73);
}

TEST_CASE("--svg writes the picture besides, whole or not at all", "[figure]") {
  const attn::TemporaryFolder folder;
  const std::string path = (folder.path() / "figure.svg").string();
  for (auto figure : figures) {
    const std::string alone = run_attn(figure).out;
    figure.insert(figure.end(), {"--svg", path});
    CHECK(run_attn(figure).out == alone);
    std::size_t fields = 0;
    for (const attn::XmlElement& element : attn::parse_xml(attn::read_file(path))) fields += element.name == "rect" ? 1 : 0;
    CHECK(fields == (figure[1] != "sentence" ? 36 : figure.size() == 4 ? 144 : 72) + 1);
  }
  CHECK(run_attn({"figure", "full", "--svg", (folder.path() / "no" / "such.svg").string()}).exit_code == 3);
}

TEST_CASE("own weights, with the tokens they are of", "[figure]") {
  const std::string weights = ATTN_DATA_DIR "/sentence/weights.npy";
  const std::string tokens = ATTN_DATA_DIR "/sentence/sentence.json";
  const std::string own = run_attn({"figure", "--weights", weights, "--tokens", tokens, "--query", "it", "--key", "cat"}).out;
  CHECK(contains(own, "layer 5, head 11"));
  // The same picture as the built-in one's, which the program computed.
  const std::string built_in = run_attn({"figure", "sentence"}).out;
  CHECK(own.substr(own.find('\n')) == built_in.substr(built_in.find('\n')));
  CHECK(contains(run_attn({"figure", "--weights", weights, "--layer", "1", "--head", "0"}).out, "layer 1, head 0"));
  const Outcome unchosen = run_attn({"figure", "--weights", weights});
  CHECK(unchosen.exit_code == 2);
  CHECK(contains(unchosen.err, "6 layers of 12 heads: expected --layer and --head, or --query and --key"));
}

TEST_CASE("what makes no sense for a figure is refused", "[figure]") {
  const std::string weights = ATTN_DATA_DIR "/sentence/weights.npy";
  const std::vector<std::pair<std::vector<std::string>, std::string>> refused = {
      {{"figure"}, "expected full, causal, sentence or --weights, found none"},
      {{"figure", "half"}, "FIGURE: expected full|causal|sentence, found 'half'"},
      {{"figure", "full", "--weights", weights}, "found two of them"},
      {{"figure", "full", "--head", "1"}, "one head"},
      {{"figure", "full", "--all-heads"}, "one head"},
      {{"figure", "full", "--tokens", weights}, "--tokens: expected --weights"},
      {{"figure", "sentence", "--head", "12"}, "--head: expected a number below 12, found 12"},
      {{"figure", "sentence", "--layer", "6"}, "--layer: expected a number below 6, found 6"},
      {{"figure", "sentence", "--layer", "x"}, "--layer"},
      {{"figure", "sentence", "--query", "it"}, "expected both or none"},
      {{"figure", "sentence", "--query", "dog", "--key", "cat"}, "found 'dog'"},
      {{"figure", "sentence", "--query", "the", "--key", "cat"}, "at 1 and 5"},
      {{"figure", "sentence", "--all-heads", "--head", "1"}, "--all-heads"},
      {{"figure", "--weights", weights, "--all-heads"}, "--all-heads: expected --query and --key"},
      {{"figure", "full", "--width", "5"}, "--width: expected at least 20, found 5"}};
  for (const auto& [arguments, message] : refused) {
    const Outcome outcome = run_attn(arguments);
    INFO(outcome.err);
    CHECK(outcome.exit_code == 2);
    CHECK(outcome.out.empty());
    CHECK(contains(outcome.err, message));
  }
}
