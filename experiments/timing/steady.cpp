#include "timing/steady.h"

#include <algorithm>
#include <cmath>

#include "machine/error.h"
#include "machine/memory_limit.h"
#include "machine/threads.h"
#include "measure/growth.h"
#include "measure/resource_usage.h"
#include "timing/measuring_options.h"
#include "timing/steady_report.h"
#include "timing/workload.h"

namespace attn {
namespace {

// Works that read the same inputs.
enum class InputKind { attention, decode, gemm };

InputKind kind_of(Work work) {
  if (work == Work::decode) return InputKind::decode;
  return work == Work::gemm ? InputKind::gemm : InputKind::attention;
}

// The work whose shape an input kind has: the one with the most operands, so that scores share q and k with attention.
Work widest_work(const SteadyOptions& options, InputKind kind) {
  Work widest = Work::scores;
  for (const Contender& contender : options.contenders) {
    if (kind_of(contender.work) == kind && (widest == Work::scores || contender.work != Work::scores)) widest = contender.work;
  }
  return widest;
}

double numbers_of(const AttentionShape& s) {
  const double per_batch = static_cast<double>(s.heads) * static_cast<double>(s.seq_q) * static_cast<double>(s.head_dim) +
                           static_cast<double>(s.kv_heads) * static_cast<double>(s.seq_k) * static_cast<double>(s.head_dim + s.head_dim_v);
  return static_cast<double>(s.batch) * per_batch;
}

std::uint64_t whole_bytes(double bytes) { return bytes < 9e18 ? static_cast<std::uint64_t>(bytes) : std::uint64_t{1} << 63; }

std::string describe(const Contender& contender, const TimingPoint& point) {
  return fmt::format("timing-sweep: {}: n = {}", contender.algorithm, point.n);
}

constexpr InputKind all_kinds[] = {InputKind::attention, InputKind::decode, InputKind::gemm};

// The rows of a point before anything is measured.
std::vector<SteadyRow> blank_rows(const SteadyOptions& options, const TimingPoint& point) {
  std::vector<SteadyRow> rows;
  for (const Contender& contender : options.contenders) {
    SteadyRow& row = rows.emplace_back();
    row.contender = contender;
    row.point = point;
    row.flops = flops_of(contender.work, point, options.modifiers);
    row.bytes_model = bytes_model_of(contender.work, point, options.modifiers);
  }
  return rows;
}

// Records where the stream stands in the rows of one kind; false where there are none.
bool note_position(std::vector<SteadyRow>& rows, InputKind kind, const RowStream& stream) {
  bool any = false;
  for (SteadyRow& row : rows) {
    if (kind_of(row.contender.work) != kind) continue;
    row.stream_position = stream.position();
    any = true;
  }
  return any;
}

// The same, with where in the stream their numbers begin; the stream passes over these.
std::vector<SteadyRow> passed_over_rows(const SteadyOptions& options, const TimingPoint& point, RowStream& stream) {
  std::vector<SteadyRow> rows = blank_rows(options, point);
  for (const InputKind kind : all_kinds) {
    if (note_position(rows, kind, stream)) stream.pass_over(numbers_of(shape_of(widest_work(options, kind), point)));
  }
  return rows;
}

// Everything at one point, in one precision.
template <class T>
class Point {
 public:
  Point(const SteadyOptions& options, const TimingPoint& point, RowStream& stream, const Ceilings& ceilings)
      : options_(options), point_(point), ceilings_(ceilings), rows_(blank_rows(options, point)) {
    workloads_.resize(rows_.size());
    for (const InputKind kind : all_kinds) {
      if (note_position(rows_, kind, stream)) draw_inputs(kind, stream);
    }
  }

  std::vector<SteadyRow> measure() {
    prepare();
    std::vector<TimedBody> bodies;
    std::vector<std::size_t> timed;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (workloads_[i] == nullptr) continue;
      Workload* workload = workloads_[i].get();
      const std::string pool = rows_[i].contender.library == nullptr ? "" : rows_[i].contender.algorithm;
      bodies.push_back({rows_[i].contender.algorithm, [workload](int buffer) { workload->run(buffer); }, rows_[i].input_buffers, pool});
      timed.push_back(i);
    }
    const std::vector<Measurement> measurements = measure_interleaved(bodies, options_.sampler);
    for (std::size_t m = 0; m < timed.size(); ++m) finish(rows_[timed[m]], *workloads_[timed[m]], measurements[m]);
    add_ceilings();
    return std::move(rows_);
  }

 private:
  using Inputs = InputBuffers<T>;

  template <class Visit>
  void for_each_row(InputKind kind, const Visit& visit) {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      if (kind_of(rows_[i].contender.work) == kind) visit(i);
    }
  }

  // Draws the numbers of one kind of inputs, or passes them over where they would not fit.
  void draw_inputs(InputKind kind, RowStream& stream) {
    const Work work = widest_work(options_, kind);
    const AttentionShape shape = shape_of(work, point_);
    const int buffers = buffer_count(work, point_);
    const auto failure = try_row(stream, numbers_of(shape), [&] {
      require_memory(whole_bytes(buffers * input_bytes_of(work, point_)), fmt::format("timing-sweep: inputs of n = {}", point_.n));
      inputs_[kind] = std::make_unique<Inputs>(shape, buffers, stream.generator());
    });
    if (!failure) return;
    for_each_row(kind, [&](std::size_t i) { end(rows_[i], *failure); });
  }

  static void end(SteadyRow& row, const RowFailure& failure) {
    row.status = failure.status;
    row.reason = failure.reason;
  }

  // Makes each workload and runs it once to see how much memory it takes. What follows is measured warm.
  void prepare() {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      SteadyRow& row = rows_[i];
      if (row.status != Status::passed) continue;
      try {
        require_memory(whole_bytes(working_bytes_of(row.contender.work, point_)), describe(row.contender, point_));
        const Inputs& inputs = *inputs_.at(kind_of(row.contender.work));
        row.input_buffers = inputs.count();
        const std::size_t before = allocated_bytes();
        reset_allocation_high_water();
        workloads_[i] = make_workload<T>(row.contender.work, inputs, options_.modifiers, row.contender.library.get());
        workloads_[i]->run(0);
        row.peak_bytes = allocation_high_water_bytes() - before + whole_bytes(input_bytes_of(row.contender.work, point_));
      } catch (const std::exception&) {
        workloads_[i].reset();
        end(row, failure_of_exception());
      }
    }
  }

  void finish(SteadyRow& row, const Workload& workload, const Measurement& measurement) {
    row.measurement = measurement;
    const std::string fault = workload.fault();
    if (!fault.empty()) {
      row.status = Status::failed;
      row.reason = fault;
    }
    row.input_hash = inputs_.at(kind_of(row.contender.work))->hash();
    row.output_hash = workload.output_hash();
    row.process_peak_bytes = resource_usage().peak_bytes;
  }

  // What the rates are compared with, and warnings where they exceed it.
  void add_ceilings() {
    const double peak = peak_gflops_for(ceilings_, point_.precision, fastest_gflops(rows_));
    for (SteadyRow& row : rows_) {
      if (!row.timed()) continue;
      row.peak_gflops = peak;
      add_warning(row, ceiling_warning(row.gflops(), peak, "GFLOP/s"));
      if (row.contender.work != Work::decode) continue;
      row.read_gbps_ceiling = measure_read_gbps(whole_bytes(row.input_buffers * input_bytes_of(row.contender.work, point_)), threads());
      add_warning(row, ceiling_warning(row.gbps(), *row.read_gbps_ceiling, "read GB/s"));
    }
  }

  static void add_warning(SteadyRow& row, const std::optional<Warning>& warning) {
    if (warning) row.measurement->warnings.push_back(*warning);
  }

  const SteadyOptions& options_;
  TimingPoint point_;
  const Ceilings& ceilings_;
  std::vector<SteadyRow> rows_;
  std::map<InputKind, std::unique_ptr<Inputs>> inputs_;
  std::vector<std::unique_ptr<Workload>> workloads_;
};

// What a series over n has in common.
std::string series_name(const SteadyRow& row) {
  const TimingPoint& p = row.point;
  const bool square = p.n_k == p.n;
  return fmt::format("{} {} d={} d_v={} heads={}/{} batch={}{}", row.contender.algorithm, name_of(p.precision), p.d, p.d_v, p.heads,
                     p.kv_heads, p.batch, square ? "" : fmt::format(" n_k={}", p.n_k));
}

}  // namespace

std::vector<SteadyRow> measure_point(const SteadyOptions& options, const TimingPoint& point, RowStream& stream, const Ceilings& ceilings) {
  const RowStream before = stream;
  try {
    if (point.precision == Precision::f32) return Point<float>(options, point, stream, ceilings).measure();
    return Point<double>(options, point, stream, ceilings).measure();
  } catch (const std::exception&) {
    const RowFailure failure = failure_of_exception();
    stream = before;
    std::vector<SteadyRow> rows = passed_over_rows(options, point, stream);
    for (SteadyRow& row : rows) {
      row.status = failure.status;
      row.reason = failure.reason;
    }
    return rows;
  }
}

std::vector<SteadyRow> restore_point(const SteadyOptions& options, const TimingPoint& point, RowStream& stream,
                                     const std::vector<Json>& finished) {
  if (finished.empty()) return {};
  RowStream ahead = stream;
  std::vector<SteadyRow> rows = passed_over_rows(options, point, ahead);
  for (SteadyRow& row : rows) {
    if (!restore(row, options, finished)) return {};
  }
  stream = ahead;
  return rows;
}

Ceilings arithmetic_ceilings(const std::vector<TimingPoint>& points) {
  Ceilings ceilings;
  for (const TimingPoint& point : points) {
    if (point.precision == Precision::f32 && ceilings.f32_all_threads.gflops == 0)
      ceilings.f32_all_threads = measure_arithmetic_peak<float>(threads());
    if (point.precision == Precision::f64 && ceilings.f64_all_threads.gflops == 0)
      ceilings.f64_all_threads = measure_arithmetic_peak<double>(threads());
  }
  return ceilings;
}

std::vector<Growth> growth_of(const std::vector<SteadyRow>& rows) {
  struct Series {
    std::vector<double> n, time, bytes;
  };
  std::vector<std::string> names;
  std::map<std::string, Series> all;
  for (const SteadyRow& row : rows) {
    if (!row.timed()) continue;
    const std::string name = series_name(row);
    if (all.find(name) == all.end()) names.push_back(name);
    Series& series = all[name];
    series.n.push_back(static_cast<double>(row.point.n));
    series.time.push_back(row.median_s());
    series.bytes.push_back(static_cast<double>(row.peak_bytes));
  }
  std::vector<Growth> growths;
  for (const std::string& name : names) {
    const auto time = fit_growth(all[name].n, all[name].time);
    const auto bytes = fit_growth(all[name].n, all[name].bytes);
    if (!time || !bytes) continue;
    growths.push_back(
        {name, time->growth_per_doubling, bytes->growth_per_doubling, time->exponent, time->exponent_low, time->exponent_high});
  }
  return growths;
}

}  // namespace attn
