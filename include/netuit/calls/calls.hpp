#pragma once

/// Functions that run where a node is updated, whoever calls them: Mesh::AddCall and Mesh::Finish.

#include <concepts>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include <netuit/calls/call.hpp>
#include <netuit/calls/call_site.hpp>
#include <netuit/mesh/call_base.hpp>
#include <netuit/mesh/mesh.hpp>
#include <netuit/mesh/mesh_calls.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/node.hpp>
#include <netuit/mesh/partition.hpp>
#include <uit/config.hpp>
#include <uit/conveyor/conveyor.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/function_ref.hpp>

namespace netuit {

namespace detail {

/// A function of the type `F`, which all workers of a process call.
template <uit::TriviallyCopyable T, typename F, typename Operation = void>
class CallKind final : public CallBase {
  using Carried = CallLine<T, Operation>;

 public:
  CallKind(const MeshCore& mesh, const NodeOwners& owners, F function, const typename Carried::Options& options)
      : function_(std::move(function)), options_(options), lines_(owners, mesh.NumThreads()), call_(lines_) {}
  Call<T, Operation> Handle() const { return call_; }
  std::unique_ptr<OpenCall> Open(CallSite& site) override { return std::make_unique<Opened>(*this, site); }

 private:
  using Line = typename Carried::Line;
  static constexpr bool takes_call = std::invocable<F&, Node&, const T&, const Call<T, Operation>&>;
  static constexpr bool is_task = !takes_call && !std::invocable<F&, Node&, const T&>;
  static_assert(takes_call || !is_task || std::invocable<F&, Node, const T&>,
                "a function for calls takes (netuit::Node&, argument) or (netuit::Node&, argument, const netuit::Call<T>&) or, if it "
                "is a task, (netuit::Node, argument); a handle of combined calls is a netuit::Call<T, Operation>");
  class Opened final : public OpenCall {
   public:
    Opened(CallKind& kind, CallSite& site)
        : line_(kind.lines_.Of(site.thread)),
          node_(site.partition, site.notes, 0, 0),
          conveyor_(site.set, Handler{kind, site, node_}, kind.options_) {
      line_ = &conveyor_;
    }
    ~Opened() override { line_ = nullptr; }
    uit::ConveyorTally Tally() const override { return conveyor_.Tally(); }

   private:
    Line*& line_;  // of this thread
    Node node_;
    Line conveyor_;
  };
  struct Handler {
    CallKind& kind;
    CallSite& site;
    Node& node;
    void operator()(const typename Carried::Item& carried) const {
      const CallItem<T>& item = Carried::CallOf(carried);
      if (item.node >= site.partition.NumNodes()) [[unlikely]] RefuseItem();
      if constexpr (is_task) {
        StartTask(site, kind.function_, NodeAt(site, item.node), item.argument);
      } else {
        site.ForgetSilent();
        node.GoTo(item.node);
        if constexpr (takes_call) kind.function_(node, item.argument, kind.call_);
        else kind.function_(node, item.argument);
      }
    }
  };

  F function_;
  typename Carried::Options options_;
  typename Call<T, Operation>::Lines lines_;
  Call<T, Operation> call_;
};

/// Starts a task: what `f(args…)` returns. Defined in netuit/calls/fetch.hpp.
template <typename F, typename... Args>
void StartTask(CallSite& site, F& f, Args&&... args);
/// A node of the worker, for a task to keep.
inline Node NodeAt(CallSite& site, std::uint32_t number) {
  site.ForgetSilent();
  Node node(site.partition, site.notes, 0, 0);
  node.GoTo(number);
  return node;
}

}  // namespace detail

template <uit::TriviallyCopyable T, typename F>
Call<T> MeshCalls::AddCall(F function, const uit::ConveyorOptions& options) {
  auto kind = std::make_unique<detail::CallKind<T, F>>(*this, Owners(), std::move(function), options);
  const Call<T> call = kind->Handle();
  calls_.push_back(std::move(kind));
  return call;
}

template <uit::TriviallyCopyable T, typename F>
Call<T> MeshCalls::AddCall(F function) {
  return AddCall<T>(std::move(function), uit::ConveyorOptions{});
}

template <typename F>
uit::ConveyorTally MeshCalls::Finish(F&& body) {
  return FinishOnAll([&](detail::CallSite& site) {
    if constexpr (std::invocable<F&, Node&>) {
      static_assert(std::is_void_v<std::invoke_result_t<F&, Node&>>, "a task takes its netuit::Node by value, not by reference");
      Node node(site.partition, site.notes, 0, 0);
      for (std::uint32_t i = 0; i < site.partition.NumNodes(); ++i) {
        node.GoTo(i);
        body(node);
      }
    } else if constexpr (std::invocable<F&>) {
      if (site.thread != 0) return;
      if constexpr (std::is_void_v<std::invoke_result_t<F&>>) body();
      else detail::StartTask(site, body);
    } else {
      static_assert(std::invocable<F&, Node>, "the body of Finish takes nothing, a netuit::Node& or, if it is a task, a netuit::Node");
      for (std::uint32_t i = 0; i < site.partition.NumNodes(); ++i) detail::StartTask(site, body, detail::NodeAt(site, i));
    }
  });
}

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/calls/calls.ipp>
#endif
