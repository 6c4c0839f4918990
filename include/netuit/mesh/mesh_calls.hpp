#pragma once

#include <memory>
#include <vector>

#include <netuit/mesh/call_base.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/function_ref.hpp>

namespace uit {

template <typename Operation>
struct Combine;
struct ConveyorOptions;
struct ConveyorTally;
struct RequestOptions;

}  // namespace uit

namespace netuit {

template <uit::TriviallyCopyable T, typename Operation = void>
class Call;
template <uit::TriviallyCopyable Argument, uit::TriviallyCopyable Result>
class Fetch;
struct NoArgument;

/// The part of a mesh that calls functions for nodes where they are updated. Include netuit/calls/calls.hpp or netuit/calls/fetch.hpp
/// to use it.
class MeshCalls : public MeshCore {
 public:
  using MeshCore::MeshCore;

  /// As MeshCore::Close. Calls can then no longer be made.
  bool Close();

  /// Adds a function that runs on the worker of a node whenever the node is called with an argument: `function(node, argument)` or
  /// `function(node, argument, call)`, where `call` is the handle that is returned.
  ///
  ///     auto visit = mesh.AddCall<netuit::NodeId>([&](netuit::Node& node, netuit::NodeId from, auto& call) {
  ///       if (parent[node] != netuit::no_node) return;
  ///       parent[node] = from;
  ///       for (auto edge : node.Out()) call(edge, node.Id());
  ///     });
  ///     mesh.Finish([&] { if (team.IsRoot()) visit(root, root); });
  ///
  /// All workers of a process call the same object, so the function changes only what belongs to its node, such as fields. It uses
  /// no channels. What it writes to a published field is published in the next run. Its node stands for no update: Update() is 0,
  /// and Random() gives the same numbers in every call. Collective. Each process stores 4 bytes for each of its own edges, and 8 bytes
  /// for each node of the whole graph, unless each worker has a block of consecutive nodes, as those of a GraphInParts have. Defined in
  /// netuit/calls/calls.hpp.
  template <uit::TriviallyCopyable T, typename F>
  Call<T> AddCall(F function, const uit::ConveyorOptions& options);
  /// Adds a function with default options.
  template <uit::TriviallyCopyable T, typename F>
  Call<T> AddCall(F function);
  /// Adds a function whose calls may be combined: arguments for the same node become `operation(earlier, later)` while they wait to
  /// be sent. See uit::CombiningConveyor.
  ///
  ///     auto give = mesh.AddCall<double>([&](netuit::Node& node, double x) { sum[node] += x; }, uit::Combine{std::plus<>{}});
  ///
  /// Otherwise as AddCall. Defined in netuit/calls/combine.hpp.
  template <uit::TriviallyCopyable T, typename F, typename Operation>
  Call<T, Operation> AddCall(F function, const uit::Combine<Operation>& combine);
  /// Adds a function `function(node, argument)`, or `function(node)` without an argument, of which a task gets the result, wherever the
  /// node is updated:
  ///
  ///     auto degree = mesh.AddFetch([](netuit::Node& node) { return node.Out().size(); });
  ///     mesh.Finish([&](netuit::Node node) -> uit::Task {
  ///       for (auto edge : node.Out()) sum[node] += co_await degree(edge);
  ///     });
  ///
  /// Otherwise as AddCall. Defined in netuit/calls/fetch.hpp.
  template <typename Argument = NoArgument, typename F>
  auto AddFetch(F function, const uit::RequestOptions& options);
  /// Adds such a function with default options.
  template <typename Argument = NoArgument, typename F>
  auto AddFetch(F function);
  /// Calls `body()` once on every process, or `body(node)` for each node on its worker, and returns when all calls that it has made
  /// have been handled everywhere, also those that functions have made. Returns what all workers have done together.
  ///
  /// If the body returns a uit::Task, it is started as a task, once or for each node, and Finish also waits for the end of all tasks.
  /// Such a body takes its node by value: `[&](netuit::Node node) -> uit::Task { … }`. A function of AddCall that is a task takes node and
  /// argument by value, because it begins after the call has been handled.
  ///
  /// Collective, between runs, on the thread that calls Run; not in Team::Run. Throws what a body or function throws, and
  /// uit::FailedElsewhere on other processes. Throws uit::PeerLost if a process ends.
  template <typename F>
  uit::ConveyorTally Finish(F&& body);

 protected:
  ~MeshCalls();

 private:
  /// Returns the owner of each node of the whole graph. The first call is collective; it also numbers the targets of edges.
  const detail::NodeOwners& Owners();
  /// Calls `body(site)` on every thread of every process, and waits until all calls have been handled. Returns what all workers have
  /// done together. Collective. Defined in netuit/calls/calls.ipp.
  uit::ConveyorTally FinishOnAll(uit::FunctionRef<void(detail::CallSite&)> body);

  detail::NodeOwners owners_{};  // once they have been requested
  std::vector<std::unique_ptr<detail::CallBase>> calls_{};
  std::shared_ptr<detail::CallSession> session_{};  // null before the first Finish
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/mesh_calls.ipp>
#endif
