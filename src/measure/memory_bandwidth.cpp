#include "measure/memory_bandwidth.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string>

#include "machine/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "measure/memory_bandwidth.cpp"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Word = std::uint64_t;
const hn::ScalableTag<Word> word_tag;
using Words = hn::Vec<decltype(word_tag)>;

// Vectors per step of a loop: whole cache lines on every target, and loads enough in flight.
constexpr std::size_t step_vectors = 8;

std::size_t step_words() { return step_vectors * hn::Lanes(word_tag); }

// words[0, count) as `streams` equal pieces side by side, a step of each in turn. count is a multiple of streams steps.
Word read_words(const Word* words, std::size_t count, int streams) {
  const std::size_t piece = count / static_cast<std::size_t>(streams);
  const std::size_t lanes = hn::Lanes(word_tag);
  Words folded[2] = {hn::Zero(word_tag), hn::Zero(word_tag)};
  for (std::size_t at = 0; at < piece; at += step_words()) {
    for (int stream = 0; stream < streams; ++stream) {
      const Word* from = words + static_cast<std::size_t>(stream) * piece + at;
      for (std::size_t v = 0; v < step_vectors; v += 2) {
        folded[0] = hn::Xor(folded[0], hn::Load(word_tag, from + v * lanes));
        folded[1] = hn::Xor(folded[1], hn::Load(word_tag, from + (v + 1) * lanes));
      }
    }
  }
  return hn::GetLane(hn::Xor(folded[0], folded[1]));
}

void write_words(Word* words, std::size_t count, Word value) {
  const Words v = hn::Set(word_tag, value);
  for (std::size_t at = 0; at < count; at += step_words()) {
    for (std::size_t i = 0; i < step_vectors; ++i) hn::Store(v, word_tag, words + at + i * hn::Lanes(word_tag));
  }
}

void stream_words(Word* words, std::size_t count, Word value) {
  const Words v = hn::Set(word_tag, value);
  for (std::size_t at = 0; at < count; at += step_words()) {
    for (std::size_t i = 0; i < step_vectors; ++i) hn::Stream(v, word_tag, words + at + i * hn::Lanes(word_tag));
  }
  hwy::FlushStream();
}

void copy_words(const Word* from, Word* to, std::size_t count) {
  for (std::size_t at = 0; at < count; at += step_words()) {
    for (std::size_t i = 0; i < step_vectors; ++i) {
      const std::size_t offset = at + i * hn::Lanes(word_tag);
      hn::Stream(hn::Load(word_tag, from + offset), word_tag, to + offset);
    }
  }
  hwy::FlushStream();
}

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn {
namespace {

HWY_EXPORT(read_words);
HWY_EXPORT(write_words);
HWY_EXPORT(stream_words);
HWY_EXPORT(copy_words);

// Four streams of whole steps of the widest vectors (512 bytes a step), and whole pages.
constexpr std::size_t part_multiple = 4096;

// What the reads found goes here, so that the compiler cannot leave them out.
std::atomic<std::uint64_t> read_result{0};

}  // namespace

std::string_view name_of(MemoryOperation operation) {
  switch (operation) {
    case MemoryOperation::read:
      return "read";
    case MemoryOperation::write:
      return "write";
    case MemoryOperation::streaming_write:
      return "streaming write";
    case MemoryOperation::copy:
      break;
  }
  return "copy";
}

MemoryBandwidth::MemoryBandwidth(std::size_t bytes, int threads) : threads_(threads) {
  if (threads < 1 || bytes == 0) throw UsageError("memory bandwidth: expected at least one thread and one byte");
  const std::size_t part = bytes / static_cast<std::size_t>(threads);
  part_bytes_ = std::max<std::size_t>(1, (part + part_multiple / 2) / part_multiple) * part_multiple;
  memory_ = allocate(this->bytes());
  const std::size_t words = part_bytes_ / sizeof(std::uint64_t);
  auto* const memory = static_cast<std::uint64_t*>(memory_.get());
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int thread = 0; thread < threads; ++thread) {
    HWY_DYNAMIC_DISPATCH(write_words)(memory + static_cast<std::size_t>(thread) * words, words, 0x9E3779B97F4A7C15u);
  }
}

double MemoryBandwidth::measure_gbps(MemoryOperation operation, const BurstOptions& options) {
  double best = 0;
  for (const int streams : {1, 2, 4}) {
    best = std::max(best, best_gbps(streams, operation, options));
    if (operation != MemoryOperation::read) break;
  }
  return best;
}

double MemoryBandwidth::best_gbps(int streams, MemoryOperation operation, const BurstOptions& options) {
  const std::size_t words = part_bytes_ / sizeof(std::uint64_t);
  auto* const memory = static_cast<std::uint64_t*>(memory_.get());
  const auto work = [&](int thread, long repeats) {
    std::uint64_t* const part = memory + static_cast<std::size_t>(thread) * words;
    std::uint64_t found = 0;
    for (long repeat = 0; repeat < repeats; ++repeat) {
      const auto value = static_cast<std::uint64_t>(repeat);
      switch (operation) {
        case MemoryOperation::read:
          found ^= HWY_DYNAMIC_DISPATCH(read_words)(part, words, streams);
          break;
        case MemoryOperation::write:
          HWY_DYNAMIC_DISPATCH(write_words)(part, words, value);
          break;
        case MemoryOperation::streaming_write:
          HWY_DYNAMIC_DISPATCH(stream_words)(part, words, value);
          break;
        case MemoryOperation::copy:
          HWY_DYNAMIC_DISPATCH(copy_words)(part, part + words / 2, words / 2);
          break;
      }
    }
    read_result ^= found;
  };
  // A copy reads one half of the part and writes the other: as many bytes as the part has.
  return 1e-9 * best_rate(threads_, static_cast<double>(part_bytes_), work, options);
}

}  // namespace attn
#endif
