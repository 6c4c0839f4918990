#pragma once

/// Functions that run where a node is updated, whoever calls them: Mesh::AddCall and Mesh::Finish.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <netuit/calls/call.hpp>
#include <netuit/mesh/call_base.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/node.hpp>
#include <netuit/mesh/node_notes.hpp>
#include <netuit/mesh/partition.hpp>
#include <uit/config.hpp>
#include <uit/conveyor/conveyor.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/support/function_ref.hpp>

namespace netuit {

namespace detail {

/// A function of the type `F`, which all workers of a process call.
template <uit::TriviallyCopyable T, typename F>
class CallKind final : public CallBase {
 public:
  CallKind(const MeshCore& mesh, const std::vector<NodeOwner>& owners, F function, const uit::ConveyorOptions& options)
      : function_(std::move(function)), options_(options), lines_{owners, {}}, call_(lines_) {
    lines_.by_thread.resize(mesh.NumThreads(), nullptr);
  }
  Call<T> Handle() const { return call_; }
  std::unique_ptr<OpenCall> Open(uit::Conveyors& set, const Partition& partition, std::uint32_t thread) override {
    return std::make_unique<Opened>(*this, set, partition, thread);
  }

 private:
  using Item = CallItem<T>;
  class Opened final : public OpenCall {
   public:
    Opened(CallKind& kind, uit::Conveyors& set, const Partition& partition, std::uint32_t thread)
        : line_(kind.lines_.by_thread[thread]),
          node_(partition, notes_, 0, 0),
          conveyor_(set, Handler{kind, node_, partition.NumNodes()}, kind.options_) {
      line_ = &conveyor_;
    }
    ~Opened() override { line_ = nullptr; }
    uit::ConveyorTally Tally() const override { return conveyor_.Tally(); }

   private:
    uit::Conveyor<Item>*& line_;  // of this thread
    NodeNotes notes_{};
    Node node_;
    uit::Conveyor<Item> conveyor_;
  };
  struct Handler {
    CallKind& kind;
    Node& node;
    std::size_t num_nodes;
    void operator()(const Item& item) const {
      if (item.node >= num_nodes) [[unlikely]] Refuse();
      node.GoTo(item.node);
      if constexpr (std::invocable<F&, Node&, const T&, const Call<T>&>) kind.function_(node, item.argument, kind.call_);
      else kind.function_(node, item.argument);
    }
    [[noreturn]] UIT_NOINLINE static void Refuse() {
      throw uit::Error("a call has arrived for a node that this worker does not have");
    }
  };

  F function_;
  uit::ConveyorOptions options_;
  CallLines<T> lines_;
  Call<T> call_;
};

/// Calls `body(partition, thread)` on every thread of every process, and waits until all calls have been handled. Returns what all
/// workers have done together. Collective.
uit::ConveyorTally FinishCalls(MeshCore& mesh, uit::FunctionRef<void(const Partition&, std::uint32_t)> body);

}  // namespace detail

template <uit::TriviallyCopyable T, typename F>
Call<T> Mesh::AddCall(F function, const uit::ConveyorOptions& options) {
  static_assert(std::invocable<F&, Node&, const T&, const Call<T>&> || std::invocable<F&, Node&, const T&>,
                "a function for calls takes (netuit::Node&, argument) or (netuit::Node&, argument, const netuit::Call<T>&)");
  auto kind = std::make_unique<detail::CallKind<T, F>>(*this, Owners(), std::move(function), options);
  const Call<T> call = kind->Handle();
  MeshCore::AddCall(std::move(kind));
  return call;
}

template <uit::TriviallyCopyable T, typename F>
Call<T> Mesh::AddCall(F function) {
  return AddCall<T>(std::move(function), uit::ConveyorOptions{});
}

template <typename F>
uit::ConveyorTally Mesh::Finish(F&& body) {
  static_assert(std::invocable<F&, Node&> || std::invocable<F&>, "the body of Finish takes a netuit::Node&, or nothing");
  return detail::FinishCalls(*this, [&](const Partition& partition, std::uint32_t thread) {
    if constexpr (std::invocable<F&, Node&>) {
      NodeNotes notes;
      Node node(partition, notes, 0, 0);
      for (std::uint32_t i = 0; i < partition.NumNodes(); ++i) {
        node.GoTo(i);
        body(node);
      }
    } else {
      if (thread == 0) body();
    }
  });
}

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/calls/calls.ipp>
#endif
