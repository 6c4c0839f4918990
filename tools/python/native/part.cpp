#include "part.hpp"

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <variant>

#include <nanobind/nanobind.h>

#include <netuit/mesh/edge_field.hpp>
#include <netuit/mesh/field.hpp>
#include <netuit/mesh/part.hpp>
#include <uit/support/error.hpp>

#include "arrays.hpp"

namespace netuit::python {

namespace nb = nanobind;

namespace {

/// What sums and means of values are computed and returned in.
template <typename T>
using SumOf = std::conditional_t<std::floating_point<T>, T, std::int64_t>;

template <typename F>
constexpr bool is_published = requires(const F& field) { field.Shown(); };

/// Calls `use(field)` with the field's handle. Throws uit::InputError if it is not published.
template <typename F>
auto WithPublished(const AnyNodeField& field, F&& use) {
  return std::visit(
      [&]<typename H>(const H& handle) -> nb::object {
        if constexpr (is_published<H>) return use(handle);
        else throw uit::InputError("the field is not published, so neighbours' values cannot be read");
      },
      field);
}

/// Calls `use(i, begin, end)` for each node, with the range of its edges.
template <typename F>
void ForEachRow(const PartInputs& in, std::size_t num_nodes, F&& use) {
  const std::span<const std::uint32_t> first = in.First();
  for (std::size_t i = 0; i < num_nodes; ++i) use(i, first[i] - first[0], first[i + 1] - first[0]);
}

/// Returns an array with `combine(shown, slots, begin, end)` for each node, whose edges begin and end there.
template <typename R, typename T, typename Combine>
nb::object ByNode(const Part& part, const PublishedField<T>& field, Combine combine) {
  NewArray<R> result(part.size());
  {
    const nb::gil_scoped_release release;
    const PartInputs in = part.In();
    const T* const shown = field.Shown().data();
    const std::uint32_t* const slots = in.Slots().data();
    R* const to = result.Values().data();
    ForEachRow(in, part.size(), [&](std::size_t i, std::uint32_t begin, std::uint32_t end) { to[i] = combine(shown, slots, begin, end); });
  }
  return result.Release();
}

/// Returns the sum of a node's neighbours' values.
template <typename R, typename T>
R SumOfRow(const T* shown, const std::uint32_t* slots, std::uint32_t begin, std::uint32_t end) {
  R sum{};
  for (std::uint32_t edge = begin; edge < end; ++edge) sum = static_cast<R>(sum + static_cast<R>(shown[slots[edge]]));
  return sum;
}

/// Returns the same with each value multiplied by the weight of its edge.
template <typename T>
double WeightedSumOfRow(const T* shown, const std::uint32_t* slots, const double* weights, std::uint32_t begin, std::uint32_t end) {
  double sum = 0;
  for (std::uint32_t edge = begin; edge < end; ++edge) sum += weights[edge] * static_cast<double>(shown[slots[edge]]);
  return sum;
}

/// Returns the best of a node's neighbours' values; 0 if it has none.
template <typename T, typename Better>
T BestOfRow(const T* shown, const std::uint32_t* slots, std::uint32_t begin, std::uint32_t end, Better is_better) {
  if (begin == end) return T{};
  T best = shown[slots[begin]];
  for (std::uint32_t edge = begin + 1; edge < end; ++edge) {
    const T value = shown[slots[edge]];
    if (is_better(value, best) || value != value) best = value;  // as in NumPy, NaN wins
  }
  return best;
}

}  // namespace

Part& PartObject::Get() const {
  if (part_ == nullptr) throw uit::Error("a part is valid only while the update function is called");
  return *part_;
}

nb::object PartObject::Ids() const { return View(Get().Ids(), mesh_.Keeper()); }

nb::object PartObject::Own(std::size_t field) const {
  return std::visit([&](const auto& handle) { return View(Get()[handle], mesh_.Keeper()); }, mesh_.FieldAt(field));
}

nb::object PartObject::OwnEdges(std::size_t field) const {
  return std::visit([&](const auto& handle) { return View(Get().In()[handle], mesh_.Keeper()); }, mesh_.EdgeFieldAt(field));
}

nb::object PartObject::EdgeWeightsByEdge() const {
  return View(Get().In()[mesh_.Weights()], mesh_.Keeper());
}

nb::object PartObject::FirstEdges() const {
  const std::span<const std::uint32_t> first = Get().In().First();
  NewArray<std::int64_t> result(first.size());
  std::ranges::transform(first, result.Values().begin(), [&](std::uint32_t edge) { return std::int64_t{edge} - first[0]; });
  return result.Release();
}

nb::object PartObject::Sources() const { return View(Get().In().Sources(), mesh_.Keeper()); }

nb::object PartObject::Neighbors(std::size_t field) const {
  return WithPublished(mesh_.FieldAt(field), [&]<typename T>(const PublishedField<T>& handle) {
    const std::span<const std::uint32_t> slots = Get().In().Slots();
    NewArray<T> result(slots.size());
    {
      const nb::gil_scoped_release release;
      const T* const shown = handle.Shown().data();
      std::ranges::transform(slots, result.Values().begin(), [&](std::uint32_t slot) { return shown[slot]; });
    }
    return result.Release();
  });
}

const double* PartObject::WeightsByEdge(std::int64_t of) const {
  if (of == graph_weights) return Get().In()[mesh_.Weights()].data();
  const auto* const field = std::get_if<EdgeField<double>>(&mesh_.EdgeFieldAt(static_cast<std::size_t>(of)));
  if (field == nullptr) throw uit::InputError("an edge field of weights has values of float64");
  return Get().In()[*field].data();
}

nb::object PartObject::Combine(std::size_t field, Fold fold, std::optional<std::int64_t> weights_of) const {
  const Part& part = Get();
  const bool weighted = weights_of.has_value();
  if (weighted && (fold == Fold::minimum || fold == Fold::maximum)) throw uit::InputError("weights make sense for sums and means only");
  const double* const weights = weighted ? WeightsByEdge(*weights_of) : nullptr;
  return WithPublished(mesh_.FieldAt(field), [&]<typename T>(const PublishedField<T>& handle) -> nb::object {
    using Sum = SumOf<T>;
    using Mean = std::conditional_t<std::floating_point<T>, T, double>;
    const auto sum = [](const T* shown, const std::uint32_t* slots, std::uint32_t begin, std::uint32_t end) {
      return SumOfRow<Sum>(shown, slots, begin, end);
    };
    const auto mean = [](const T* shown, const std::uint32_t* slots, std::uint32_t begin, std::uint32_t end) {
      return begin == end ? Mean{} : SumOfRow<Mean>(shown, slots, begin, end) / static_cast<Mean>(end - begin);
    };
    const auto weighted_sum = [weights](const T* shown, const std::uint32_t* slots, std::uint32_t begin, std::uint32_t end) {
      return WeightedSumOfRow(shown, slots, weights, begin, end);
    };
    const auto weighted_mean = [weights](const T* shown, const std::uint32_t* slots, std::uint32_t begin, std::uint32_t end) {
      const double all = std::accumulate(weights + begin, weights + end, 0.0);
      return all == 0 ? 0.0 : WeightedSumOfRow(shown, slots, weights, begin, end) / all;
    };
    const auto best = [&](auto is_better) {
      return ByNode<T>(part, handle, [&](const T* shown, const std::uint32_t* slots, std::uint32_t begin, std::uint32_t end) {
        return BestOfRow(shown, slots, begin, end, is_better);
      });
    };
    switch (fold) {
      case Fold::sum: return weighted ? ByNode<double>(part, handle, weighted_sum) : ByNode<Sum>(part, handle, sum);
      case Fold::mean: return weighted ? ByNode<double>(part, handle, weighted_mean) : ByNode<Mean>(part, handle, mean);
      case Fold::minimum: return best(std::less<T>{});
      default: return best(std::greater<T>{});
    }
  });
}

nb::object PartObject::SumEdges(const Given<double>& values) const {
  const Part& part = Get();
  const PartInputs in = part.In();
  if (values.shape(0) != in.size())
    throw uit::InputError("sum_edges: the part has " + std::to_string(in.size()) + " edges, and got " + std::to_string(values.shape(0)) + " values");
  NewArray<double> result(part.size());
  const double* const of = values.data();
  ForEachRow(in, part.size(), [&](std::size_t i, std::uint32_t begin, std::uint32_t end) {
    double sum = 0;
    for (std::uint32_t edge = begin; edge < end; ++edge) sum += of[edge];
    result.Values()[i] = sum;
  });
  return result.Release();
}

nb::object PartObject::PerEdge(const Given<double>& values) const {
  const Part& part = Get();
  if (values.shape(0) != part.size())
    throw uit::InputError("per_edge: the part has " + std::to_string(part.size()) + " nodes, and got " + std::to_string(values.shape(0)) + " values");
  const PartInputs in = part.In();
  NewArray<double> result(in.size());
  ForEachRow(in, part.size(), [&](std::size_t i, std::uint32_t begin, std::uint32_t end) {
    std::ranges::fill(result.Values().subspan(begin, end - begin), values.data()[i]);
  });
  return result.Release();
}

nb::object PartObject::Random(std::uint32_t draw) const {
  Part& part = Get();
  NewArray<double> result(part.size());
  for (std::size_t i = 0; i < part.size(); ++i) {
    NodeRandom random = part.At(i).Random();
    for (std::uint32_t skipped = 0; skipped < draw; ++skipped) random();
    result.Values()[i] = random.Uniform();
  }
  return result.Release();
}

void PartObject::StaySilent(const Given<std::uint8_t>& mask) const {
  Part& part = Get();
  if (mask.shape(0) != part.size())
    throw uit::InputError("stay_silent: the part has " + std::to_string(part.size()) + " nodes, and the mask " + std::to_string(mask.shape(0)));
  for (std::size_t i = 0; i < part.size(); ++i) {
    if (mask.data()[i] != 0) part.At(i).StaySilent();
  }
}

void PartObject::Contribute(std::size_t reduction, const Given<double>& numbers) const {
  Part& part = Get();
  if (part.size() == 0) return;
  const auto slot = mesh_.ReductionAt(reduction)[part.At(0)];
  for (const double number : std::span{numbers.data(), numbers.shape(0)}) slot = number;
}

}  // namespace netuit::python
