#include "stream_rows.h"

#include <algorithm>
#include <exception>
#include <new>

#include "machine/error.h"
#include "machine/threads.h"

namespace attn {
namespace {

constexpr Index chunk_numbers = Index{1} << 17;  // 1 MiB: it must fit where a row did not
constexpr double most_numbers = 1e11;            // some minutes' worth

}  // namespace

Generator& RowStream::generator() {
  catch_up();
  return generator_;
}

void RowStream::pass_over(double count) { passed_over_ += count; }

void RowStream::catch_up() const {
  if (passed_over_ == 0) return;
  if (passed_over_ > most_numbers) {
    throw MemoryError(fmt::format("stream: earlier rows of {:.1e} numbers are too large even to pass over", passed_over_));
  }
  Matrix<double> ignored(1, std::min(chunk_numbers, static_cast<Index>(passed_over_)));
  for (; passed_over_ > 0; passed_over_ -= static_cast<double>(ignored.cols())) {
    const auto count = static_cast<std::size_t>(std::min(passed_over_, static_cast<double>(chunk_numbers)));
    generator_.fill_standard_normal({ignored.data(), count}, threads());
  }
  passed_over_ = 0;
}

Json RowStream::position() const {
  if (passed_over_ > most_numbers) return nullptr;
  catch_up();
  const uint128 position = generator_.position();
  const auto low = static_cast<std::uint64_t>(position);
  if (position == low) return low;
  return to_string(position);
}

RowFailure failure_of_exception() {
  try {
    throw;
  } catch (const UsageError&) {
    throw;
  } catch (const MemoryError& error) {
    return {Status::skipped, error.what()};
  } catch (const std::bad_alloc&) {
    return {Status::skipped, "memory: allocate: the system refused"};
  } catch (const std::exception& error) {
    return {Status::error, error.what()};
  }
}

std::optional<RowFailure> try_row(RowStream& stream, double count, const std::function<void()>& make) {
  const RowStream before = stream;
  try {
    make();
    return std::nullopt;
  } catch (const std::exception&) {
    const RowFailure failure = failure_of_exception();
    stream = before;
    stream.pass_over(count);
    return failure;
  }
}

std::string advance_text(const Json& position) { return position.is_string() ? position.get<std::string>() : position.dump(); }

}  // namespace attn
