// `attn figure`: the documents' pictures, and the same of other weights.
#include <fmt/format.h>

#include <memory>
#include <optional>

#include "experiment.h"
#include "figure/head_table.h"
#include "figure/head_weights.h"
#include "figure/heat_map.h"
#include "figure/svg_picture.h"
#include "figure/terminal_picture.h"
#include "io/output_file.h"
#include "machine/error.h"
#include "options/number_list.h"
#include "options/options.h"
#include "report/terminal.h"
#include "sentence.h"

namespace attn {
namespace {

enum class Source { none, full, causal, sentence };

constexpr Index least_width = 20;

struct FigureOptions {
  Source source = Source::none;
  std::string weights, tokens, svg;
  std::optional<Index> layer, head;
  std::string query, key;  // empty: not given
  bool all_heads = false;
  Index width = 0;  // 0: the terminal's
};

std::string source_name(Source source) {
  switch (source) {
    case Source::full:
      return "full";
    case Source::causal:
      return "causal";
    case Source::sentence:
      return "sentence";
    case Source::none:
      break;
  }
  return "weights";
}

// What makes no sense together.
void check_options(const FigureOptions& options) {
  const bool own = !options.weights.empty();
  if (own == (options.source != Source::none)) {
    throw UsageError(fmt::format("figure: expected full, causal, sentence or --weights, found {}", own ? "two of them" : "none"));
  }
  if (!own && !options.tokens.empty()) throw UsageError("--tokens: expected --weights beside it, found none");
  const bool has_heads = own || options.source == Source::sentence;
  if (!has_heads && (options.layer || options.head || options.all_heads || !options.query.empty() || !options.key.empty())) {
    throw UsageError(fmt::format("figure: {} has one head: expected no option that chooses one", source_name(options.source)));
  }
  if (options.all_heads && (options.layer || options.head)) throw UsageError("--all-heads: expected no --layer or --head beside it");
  if (options.query.empty() != options.key.empty()) throw UsageError("--query, --key: expected both or none, found one");
  if (options.width != 0 && options.width < least_width) {
    throw UsageError(fmt::format("--width: expected at least {}, found {}", least_width, options.width));
  }
}

HeadWeights read_weights(const FigureOptions& options) {
  if (!options.weights.empty()) return weights_from_file(options.weights, options.tokens);
  return options.source == Source::sentence ? sentence_weights() : document_1_weights(options.source == Source::causal);
}

// From which token to which the weight is looked at, by position.
struct Pair {
  Index query = 0, key = 0;
};

std::optional<Pair> looked_at(const FigureOptions& options, const HeadWeights& weights) {
  if (!options.query.empty())
    return Pair{find_token("--query", options.query, weights.queries), find_token("--key", options.key, weights.keys)};
  if (options.source != Source::sentence) return std::nullopt;
  return Pair{find_token("--query", "it", weights.queries), find_token("--key", "cat", weights.keys)};
}

void check_place(const char* option, std::optional<Index> number, Index count) {
  if (number && *number >= count) throw UsageError(fmt::format("{}: expected a number below {}, found {}", option, count, *number));
}

// The head that is drawn: the one that was chosen, or found by how much it gives from one token to another.
HeadPlace chosen_head(const FigureOptions& options, const HeadWeights& weights, const std::optional<Pair>& pair) {
  check_place("--layer", options.layer, weights.layers);
  check_place("--head", options.head, weights.heads);
  if (pair) return strongest_head(weights, pair->query, pair->key, options.layer, options.head);
  const bool chosen = (options.layer || weights.layers == 1) && (options.head || weights.heads == 1);
  if (!chosen) {
    throw UsageError(fmt::format("{}: {} layers of {} heads: expected --layer and --head, or --query and --key to search by",
                                 weights.source, weights.layers, weights.heads));
  }
  return {options.layer.value_or(0), options.head.value_or(0)};
}

std::string document_title(Source source) {
  return source == Source::causal ? "Attention weights with a causal mask (document 1)"
                                  : "Attention weights, every token sees all (document 1)";
}

// What a picture shows, in a sentence from its own numbers.
std::string pair_note(const FigureOptions& options, const HeadWeights& weights, Pair pair, HeadPlace place) {
  const double weight = weights.head(place.layer, place.head)(pair.query, pair.key);
  std::string note = fmt::format("\"{}\" gives {:.3f} of its attention to \"{}\"", weights.queries[static_cast<std::size_t>(pair.query)],
                                 weight, weights.keys[static_cast<std::size_t>(pair.key)]);
  const Index searched = (options.layer ? 1 : weights.layers) * (options.head ? 1 : weights.heads);
  if (searched > 1) note += fmt::format(", the most of {} heads", searched);
  return note;
}

HeatMap head_map(const FigureOptions& options, const HeadWeights& weights, HeadPlace place, const std::optional<Pair>& pair) {
  const MatrixView<const double> values = weights.head(place.layer, place.head);
  HeatMap map;
  map.row_axis = "query";
  map.column_axis = "key";
  map.row_labels = weights.queries;
  map.column_labels = weights.keys;
  map.values = Matrix<double>(values.rows(), values.cols());
  std::copy_n(values.data(), values.size(), map.values.data());
  map.top = scale_top(values);
  const bool of_document = options.source == Source::full || options.source == Source::causal;
  if (of_document) {
    map.title = document_title(options.source);
  } else if (weights.layers * weights.heads == 1) {
    map.title = weights.source;
  } else {
    map.title = fmt::format("{}, layer {}, head {}", weights.source, place.layer, place.head);
  }
  if (pair) map.notes.push_back(pair_note(options, weights, *pair, place));
  if (options.source == Source::causal) map.notes.push_back(fmt::format("token 0 sees only itself: its weight is {:.2f}", values(0, 0)));
  return map;
}

HeatMap all_heads_map(const HeadWeights& weights, Pair pair) {
  HeatMap map;
  map.row_axis = "layer";
  map.column_axis = "head";
  map.values = Matrix<double>(weights.layers, weights.heads);
  for (Index layer = 0; layer < weights.layers; ++layer) {
    map.row_labels.push_back(std::to_string(layer));
    for (Index head = 0; head < weights.heads; ++head) map.values(layer, head) = weights.head(layer, head)(pair.query, pair.key);
  }
  for (Index head = 0; head < weights.heads; ++head) map.column_labels.push_back(std::to_string(head));
  map.top = scale_top(map.values);
  map.title = fmt::format("Weight of \"{}\" on \"{}\" in every head of {}", weights.queries[static_cast<std::size_t>(pair.query)],
                          weights.keys[static_cast<std::size_t>(pair.key)], weights.source);
  return map;
}

TerminalStyle terminal_style(const FigureOptions& options, const Session& session) {
  TerminalStyle style;
  style.width = options.width > 0 ? options.width : std::max(terminal_columns(), least_width);
  style.true_color = session.true_color();
  style.utf8 = shows_utf8();
  return style;
}

Row pair_fields(const HeadWeights& weights, Pair pair, HeadPlace place) {
  return Row()
      .exact("layer", place.layer)
      .exact("head", place.head)
      .exact("query", weights.queries[static_cast<std::size_t>(pair.query)])
      .exact("query_position", pair.query)
      .exact("key", weights.keys[static_cast<std::size_t>(pair.key)])
      .exact("key_position", pair.key)
      .exact("weight", weights.head(place.layer, place.head)(pair.query, pair.key));
}

// The document that has the figure; 0 for the user's own.
int document_of(Source source) {
  if (source == Source::none) return 0;
  return source == Source::sentence ? 2 : 1;
}

Block head_block(const FigureOptions& options, const HeadWeights& weights, const TerminalStyle& style, HeatMap& map) {
  const std::optional<Pair> pair = looked_at(options, weights);
  const HeadPlace place = chosen_head(options, weights, pair);
  map = head_map(options, weights, place, pair);
  Block block{document_of(options.source), source_name(options.source), map.title};
  block.text.append(terminal_title(map, style)).append(terminal_picture(map, style));
  Row row = pair ? pair_fields(weights, *pair, place) : Row().exact("layer", place.layer).exact("head", place.head);
  block.rows.push_back(row.exact("queries", weights.queries).exact("keys", weights.keys));
  block.arrays = {make_array("weights", map.values.view())};
  return block;
}

Block all_heads_block(const FigureOptions& options, const HeadWeights& weights, const TerminalStyle& style, HeatMap& map) {
  const std::optional<Pair> pair = looked_at(options, weights);
  if (!pair) throw UsageError("--all-heads: expected --query and --key beside it, found neither");
  map = all_heads_map(weights, *pair);
  const HeadPlace best = strongest_head(weights, pair->query, pair->key, {}, {});
  map.notes = {fmt::format("strongest: layer {}, head {}: {:.3f}", best.layer, best.head, map.values(best.layer, best.head))};
  Block block{document_of(options.source), source_name(options.source), map.title};
  block.text.append(terminal_title(map, style)).line().append(head_table(map.values.view(), style.width));
  TerminalStyle small = style;
  small.widest_cell = 3;
  small.digits = false;
  block.text.append(terminal_picture(map, small));
  for (Index layer = 0; layer < weights.layers; ++layer) {
    for (Index head = 0; head < weights.heads; ++head) block.rows.push_back(pair_fields(weights, *pair, {layer, head}));
  }
  block.arrays = {make_array("weights_by_head", map.values.view())};
  return block;
}

Json args_of(const FigureOptions& options) {
  const auto text = [](const std::string& value) { return value.empty() ? Json(nullptr) : Json(value); };
  const auto number = [](const std::optional<Index>& value) { return value ? Json(*value) : Json(nullptr); };
  return {{"figure", source_name(options.source)},
          {"weights", text(options.weights)},
          {"tokens", text(options.tokens)},
          {"layer", number(options.layer)},
          {"head", number(options.head)},
          {"query", text(options.query)},
          {"key", text(options.key)},
          {"all_heads", options.all_heads},
          {"svg", text(options.svg)}};
}

Report run_figure(const FigureOptions& options, const Session& session) {
  check_options(options);
  std::unique_ptr<OutputFile> svg = options.svg.empty() ? nullptr : std::make_unique<OutputFile>(options.svg);
  const HeadWeights weights = read_weights(options);
  const TerminalStyle style = terminal_style(options, session);
  HeatMap map;
  Report report{"figure"};
  report.args = args_of(options);
  report.tabular = options.all_heads;
  report.blocks.push_back(options.all_heads ? all_heads_block(options, weights, style, map) : head_block(options, weights, style, map));
  if (svg != nullptr) {
    svg->write(svg_picture(map));
    svg->commit();
  }
  return report;
}

void add_number(CLI::App& app, const std::string& name, std::optional<Index>& target, const std::string& help) {
  add_parsed(
      app, name, "N", [name, &target](const std::string& text) { target = parse_size(name, text, 0); }, help);
}

std::function<Report(Session&)> set_up_figure(CLI::App& app) {
  const auto options = std::make_shared<FigureOptions>();
  const std::vector<std::pair<std::string, Source>> sources = {
      {"full", Source::full}, {"causal", Source::causal}, {"sentence", Source::sentence}};
  add_choice(app, "FIGURE", options->source, sources, "Document 1's weights, without or with a mask; document 2's sentence");
  add_text(app, "--weights", "FILE", options->weights,
           "Draw these weights: (queries, keys), (heads, queries, keys) or (layers, heads, queries, keys)");
  add_text(app, "--tokens", "FILE", options->tokens, "What its keys are called, and as many queries: a token a line, or a JSON list");
  add_number(app, "--layer", options->layer, "Layer to draw, from 0");
  add_number(app, "--head", options->head, "Head to draw, from 0");
  add_text(app, "--query", "TOKEN", options->query, "Draw the head that gives most weight from this token, by its text or position ...")
      .default_str("it");
  add_text(app, "--key", "TOKEN", options->key, "... to this one").default_str("cat");
  add_flag(app, "--all-heads", options->all_heads, "That weight in every head, as a table and a small picture");
  add_text(app, "--svg", "FILE", options->svg, "Write the picture to this file besides, as SVG");
  add_parsed(
      app, "--width", "N", [options](const std::string& text) { options->width = parse_size("--width", text); },
      "Columns that the picture may take (default: the terminal's, else 80)");
  return [options](Session& session) { return run_figure(*options, session); };
}

}  // namespace

Experiment figure() {
  return {"figure", "The documents' pictures, drawn from computed weights, and pictures of your own", {}, set_up_figure};
}

}  // namespace attn
