// The way of a sweep over a layer's points: each is taken from the run that is resumed, or measured; then it is shown.
#pragma once

#include <functional>
#include <iterator>
#include <string>
#include <vector>

#include "session.h"
#include "stream_rows.h"
#include "sweep/model_axes.h"

namespace attn {

template <class R>
struct PointSweep {
  std::string doing;                                                         // "generating"
  std::function<double(const ModelPoint&)> work;                             // in any unit: progress goes by it
  std::function<std::vector<R>(const ModelPoint&, const RowStream&)> blank;  // the point's rows before anything is measured
  std::function<bool(R&)> restore;                                           // fills a blank row in from an earlier run, if that has it
  std::function<double(const ModelPoint&)> numbers;                          // drawn from the stream for the point
  std::function<std::vector<R>(const ModelPoint&, RowStream&)> measure;      // its rows
  std::function<void(const std::vector<R>&)> finished;                       // shows them
};

// All rows, in the order of the points. A point is restored only if all its rows can be; the stream then passes over its numbers.
template <class R>
std::vector<R> run_points(const PointSweep<R>& sweep, const std::vector<ModelPoint>& points, RowStream& stream, Session& session) {
  double done = 0;
  double total = 0;
  for (const ModelPoint& point : points) total += sweep.work(point);
  std::vector<R> all;
  for (const ModelPoint& point : points) {
    session.progress(fmt::format("{} n = {}", sweep.doing, point.n), done, total);
    std::vector<R> rows = sweep.blank(point, stream);
    if (std::all_of(rows.begin(), rows.end(), sweep.restore)) {
      stream.pass_over(sweep.numbers(point));
    } else {
      rows = sweep.measure(point, stream);
    }
    sweep.finished(rows);
    done += sweep.work(point);
    std::move(rows.begin(), rows.end(), std::back_inserter(all));
  }
  return all;
}

// Says on stderr what a row of `n` tokens came to and what must be known of its time; `row` has status, reason and measurement.
template <class R>
void warn_of_row(Session& session, const R& row, std::string_view what) {
  if (!row.reason.empty()) session.warn(fmt::format("{}: {}", status_name(row.status), row.reason));
  if (!row.measurement) return;
  for (const Warning& warning : row.measurement->warnings) session.warn(fmt::format("n = {}, {}: {}", row.point.n, what, warning.text));
}

}  // namespace attn
