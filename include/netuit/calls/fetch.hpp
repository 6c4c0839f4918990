#pragma once

/// Tasks that get values from the owners of nodes: Mesh::AddFetch. See uit::Tasks.

#include <concepts>
#include <memory>
#include <utility>

#include <netuit/calls/call.hpp>
#include <netuit/calls/call_site.hpp>
#include <netuit/calls/calls.hpp>
#include <netuit/graph/topology.hpp>
#include <netuit/mesh/call_base.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/node.hpp>
#include <uit/conveyor/conveyor_sizes.hpp>
#include <uit/conveyor/requests.hpp>
#include <uit/conveyor/tasks.hpp>
#include <uit/support/bytes.hpp>

namespace netuit {

/// Stands for the argument of a function that takes none.
struct NoArgument {};

/// Gets the result of a function of a mesh for a node from the worker that updates it; see Mesh::AddFetch. A handle; cheap to copy.
///
/// Only tasks use it, within Mesh::Finish: `auto result = co_await fetch(node, argument)`. Until the result has come, other tasks and
/// functions run on the worker. If the worker updates the node itself, the function is called at once.
template <uit::TriviallyCopyable Argument, uit::TriviallyCopyable Result>
class Fetch {
 public:
  /// For Mesh.
  using Lines = detail::CallLines<uit::Requests<detail::CallItem<Argument>, Result>>;
  /// For Mesh.
  explicit Fetch(const Lines& lines) : lines_(&lines) {}

  /// What a task waits for. Throws uit::InputError if the mesh has no such node, and uit::Error outside of Finish.
  auto operator()(NodeId node, const Argument& argument) const {
    const detail::NodeOwner owner = lines_->OwnerOf(node);
    return lines_->Here()(owner.worker, {owner.node, argument});
  }
  /// The same for the node where an edge ends. Is faster, since nothing is looked up. The edge must be one of this mesh: that is not
  /// checked.
  auto operator()(const OutEdge& edge, const Argument& argument) const {
    return lines_->Here()(edge.TargetWorker(), {edge.TargetNumber(), argument});
  }
  /// The same for a function that takes no argument.
  auto operator()(NodeId node) const
    requires std::same_as<Argument, NoArgument>
  {
    return (*this)(node, NoArgument{});
  }
  /// The same for a function that takes no argument, and the node where an edge of this mesh ends.
  auto operator()(const OutEdge& edge) const
    requires std::same_as<Argument, NoArgument>
  {
    return (*this)(edge, NoArgument{});
  }

 private:
  const Lines* lines_;
};

namespace detail {

template <typename F, typename... Args>
void StartTask(CallSite& site, F& f, Args&&... args) {
  site.tasks.Start(f, std::forward<Args>(args)...);
}

/// Calls a function with its argument, if it takes one.
template <typename F, typename Argument>
auto CallWith(F& f, Node& node, const Argument& argument) {
  if constexpr (std::same_as<Argument, NoArgument>) return f(node);
  else return f(node, argument);
}

/// A function of the type `F` whose results are fetched.
template <uit::TriviallyCopyable Argument, typename F>
class FetchKind final : public CallBase {
 public:
  using Result = decltype(CallWith(std::declval<F&>(), std::declval<Node&>(), std::declval<const Argument&>()));

  FetchKind(const MeshCore& mesh, const NodeOwners& owners, F function, const uit::RequestOptions& options)
      : function_(std::move(function)), options_(options), lines_(owners, mesh.NumThreads()) {}
  Fetch<Argument, Result> Handle() const { return Fetch<Argument, Result>(lines_); }
  std::unique_ptr<OpenCall> Open(CallSite& site) override { return std::make_unique<Opened>(*this, site); }

 private:
  using Item = CallItem<Argument>;
  class Opened final : public OpenCall {
   public:
    Opened(FetchKind& kind, CallSite& site)
        : line_(kind.lines_.Of(site.thread)), requests_(site.tasks, [&kind, &site](const Item& item) {
            if (item.node >= site.partition.NumNodes()) [[unlikely]] RefuseItem();
            Node node = NodeAt(site, item.node);
            return CallWith(kind.function_, node, item.argument);
          }, kind.options_) {
      line_ = &requests_;
    }
    ~Opened() override { line_ = nullptr; }
    uit::ConveyorTally Tally() const override {
      const uit::RequestTally& tally = requests_.Tally();
      return {.pushed = tally.asked + tally.own, .handled = tally.answered + tally.own, .waits = tally.waited};
    }

   private:
    uit::Requests<Item, Result>*& line_;  // of this thread
    uit::Requests<Item, Result> requests_;
  };

  F function_;
  uit::RequestOptions options_;
  typename Fetch<Argument, Result>::Lines lines_;
};

}  // namespace detail

template <typename Argument, typename F>
auto MeshCalls::AddFetch(F function, const uit::RequestOptions& options) {
  auto kind = std::make_unique<detail::FetchKind<Argument, F>>(*this, Owners(), std::move(function), options);
  const auto fetch = kind->Handle();
  calls_.push_back(std::move(kind));
  return fetch;
}

template <typename Argument, typename F>
auto MeshCalls::AddFetch(F function) {
  return AddFetch<Argument>(std::move(function), uit::RequestOptions{});
}

/// Adds the value of a field for tasks: `co_await read(node)`. Collective.
template <typename F>
auto AddRead(Mesh& mesh, F field) {
  return mesh.AddFetch([field](Node& node) { return field[node]; });
}
/// Adds a one-way call that writes a field: `write(node, value)`. Collective.
template <typename F>
auto AddWrite(Mesh& mesh, F field) {
  return mesh.AddCall<typename F::Value>([field](Node& node, const typename F::Value& value) { field[node] = value; });
}
/// Adds a sum for tasks, which returns the value before: `co_await add(node, summand)`. Collective.
template <typename F>
auto AddFetchAdd(Mesh& mesh, F field) {
  return mesh.AddFetch<typename F::Value>([field](Node& node, const typename F::Value& summand) {
    const typename F::Value before = field[node];
    field[node] = before + summand;
    return before;
  });
}

}  // namespace netuit
