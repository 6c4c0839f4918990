#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <netuit/mesh/entrance.hpp>
#include <netuit/mesh/node.hpp>
#include <netuit/mesh/shared_base.hpp>
#include <netuit/mesh/turn_order.hpp>
#include <uit/config.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/support/pause.hpp>

namespace netuit {

/// How the nodes of a process use an object that they share.
enum class Order {
  sequential,  ///< One after another, in order of update and node: the same on every layout. Modes 0 and 5 only.
  exclusive,   ///< One at a time, in any order. A node never waits for another.
  relaxed      ///< All at once; the object synchronises itself.
};

namespace detail {

/// The object, and what else its order needs.
template <typename T, Order order>
struct SharedObject final : SharedBase {
  template <typename... Args>
  explicit SharedObject(Args&&... args) : object(std::forward<Args>(args)...) {}
  T object;
};
template <typename T>
struct SharedObject<T, Order::sequential> final : SharedBase {
  template <typename... Args>
  explicit SharedObject(TurnOrder& order, Args&&... args) : turns(order), object(std::forward<Args>(args)...) {}
  bool NeedsOwnWorker() const override { return true; }
  TurnOrder& turns;
  T object;
};
template <typename T>
class SharedObject<T, Order::exclusive> final : public SharedBase {
 public:
  template <typename... Args>
  explicit SharedObject(std::uint32_t threads, Args&&... args) : object(std::forward<Args>(args)...), waiting_(threads) {}

  /// Calls f(object) now if no other thread uses the object, and else at the end of this thread's update or before. Throws if called by
  /// such a function.
  template <typename F>
  void Do(std::size_t thread, F&& f) {
    if (waiting_[thread].is_in_use) throw uit::Error("a function for a shared object uses the same object again");
    if (!entrance_.TryEnter()) {
      waiting_[thread].calls.emplace_back(std::forward<F>(f));
      return;
    }
    const Use use(entrance_, waiting_[thread].is_in_use);
    RunWaiting(thread);
    f(object);
  }
  bool NeedsOwnWorker() const override { return true; }
  void EndUpdate(std::size_t thread, uit::SpinHabit& habit) override {
    if (waiting_[thread].calls.empty()) return;
    uit::WaitUntil([&] { return entrance_.TryEnter(); }, uit::never, uit::NoIdle{}, uit::Backoff(habit));
    const Use use(entrance_, waiting_[thread].is_in_use);
    RunWaiting(thread);
  }

  T object;

 private:
  struct alignas(uit::cache_line) Waiting {
    std::vector<std::function<void(T&)>> calls;
    bool is_in_use = false;  // the object, by this thread
  };
  /// Notes that a thread, which has entered, uses the object. Leaves at the end, also if a function throws.
  struct Use {
    Entrance<>& entrance;
    bool& is_in_use;
    Use(Entrance<>& entered, bool& of) : entrance(entered), is_in_use(of) { is_in_use = true; }
    ~Use() {
      is_in_use = false;
      entrance.Leave();
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;
  };

  void RunWaiting(std::size_t thread) {
    std::vector<std::function<void(T&)>>& calls = waiting_[thread].calls;
    std::size_t next = 0;
    const Forget forget{calls, next};
    while (next < calls.size()) calls[next++](object);
  }
  /// Forgets the calls made, also the one that throws.
  struct Forget {
    std::vector<std::function<void(T&)>>& calls;
    std::size_t& num_made;
    ~Forget() { calls.erase(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(num_made)); }
  };

  std::vector<Waiting> waiting_;  // by thread
  Entrance<> entrance_;           // to the object
};

}  // namespace detail

/// An object of which each process has one, which its nodes use during updates in one declared order; see Mesh::AddShared. A handle,
/// cheap to copy, valid as long as its mesh. In a run with Steals, objects must be relaxed.
///
///     auto log = mesh.AddShared<std::ofstream, netuit::Order::sequential>("log." + std::to_string(team.Rank()));
///     auto histogram = mesh.AddShared<Histogram, netuit::Order::exclusive>(64);
///     mesh.Run(netuit::EveryUpdate{.updates = 100}, [&](netuit::Node& node) {
///       histogram.Do(node, [value = x[node]](Histogram& h) { h.Add(value); });
///       if (x[node] > 1) log.InTurn(node) << node.Update() << ' ' << node.Id() << '\n';
///     });
template <typename T, Order order>
class Shared {
 public:
  /// For the mesh.
  Shared(detail::SharedObject<T, order>& shared, std::uint32_t num_threads) : shared_(&shared), num_threads_(num_threads) {}

  /// Waits until all earlier turns of this process are over, and returns the object. It is this node's until its update ends. Earlier
  /// are those of earlier updates, and those of the same update at nodes of a smaller number (with edge delays: of a smaller level,
  /// then number). A worker that takes no turn in an update keeps others waiting until it has ended the update.
  T& InTurn(const Node& node)
    requires(order == Order::sequential)
  {
    shared_->turns.Await(node.Worker() % num_threads_, node.Update(), node.Index());
    return shared_->object;
  }
  /// Calls f(object) while no other node uses it. Never waits: if another does, `f` is called later, at the end of this worker's update
  /// at the latest. So `f` must hold what it needs, and not refer to local variables of the update. If it throws, the run ends.
  template <std::invocable<T&> F>
    requires std::copy_constructible<F>
  void Do(const Node& node, F f)
    requires(order == Order::exclusive)
  {
    shared_->Do(node.Worker() % num_threads_, std::move(f));
  }
  /// Returns the object. Other nodes may use it at the same time.
  T& operator*() const
    requires(order == Order::relaxed)
  {
    return shared_->object;
  }
  /// Returns the object. Other nodes may use it at the same time.
  T* operator->() const
    requires(order == Order::relaxed)
  {
    return &shared_->object;
  }

  /// Returns the object between runs.
  T& BetweenRuns() const { return shared_->object; }

 private:
  detail::SharedObject<T, order>* shared_;
  std::uint32_t num_threads_;
};

}  // namespace netuit
