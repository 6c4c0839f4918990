#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <uit/duct/duct.hpp>
#include <uit/policy.hpp>
#include <uit/tally.hpp>

namespace uit::testing {

/// A pair of ends of any subject, for numbers. As it does not depend on the subject's type, the laws are compiled once for all
/// subjects: each used to take a second.
class NumberPair {
 public:
  virtual ~NumberPair() = default;

  virtual bool TryPut(const std::uint64_t& number) = 0;
  virtual bool TryPut(std::uint64_t&& number) = 0;
  virtual std::size_t TryStep(std::size_t limit) = 0;
  virtual const std::uint64_t& Get() const = 0;
  virtual void Settle() = 0;
  virtual uit::Tally Tally() = 0;

  // Where NumberSubject::can_stage.
  virtual bool TryStage(const std::uint64_t& number) = 0;
  virtual bool TryFlush() = 0;

  // Where NumberSubject::can_hold.
  virtual void HoldInlet(bool hold) = 0;
  virtual void HoldOutlet(bool hold) = 0;
  virtual void Refresh() = 0;
};

/// What the laws need to know of a subject; see duct_laws.hpp.
struct NumberSubject {
  Retain retain;
  Backlog backlog;
  bool can_stage;
  bool can_hold;
  std::unique_ptr<NumberPair> (*open)(std::size_t depth, std::uint64_t initial);

  std::unique_ptr<NumberPair> Open(std::size_t depth, std::uint64_t initial = 0) const { return open(depth, initial); }
};

template <typename S>
class NumberPairOf final : public NumberPair {
 public:
  using Pair = typename S::template Pair<std::uint64_t>;
  static constexpr bool can_stage = requires(Pair& pair) { pair.TryStage(std::uint64_t{}); };
  static constexpr bool can_hold = requires(Pair& pair) { pair.HoldInlet(true); };

  NumberPairOf(std::size_t depth, std::uint64_t initial) : pair_{depth, initial} {}

  bool TryPut(const std::uint64_t& number) override { return pair_.TryPut(number); }
  bool TryPut(std::uint64_t&& number) override { return pair_.TryPut(std::move(number)); }
  std::size_t TryStep(std::size_t limit) override { return pair_.TryStep(limit); }
  const std::uint64_t& Get() const override { return pair_.Get(); }
  void Settle() override { pair_.Settle(); }
  uit::Tally Tally() override { return pair_.Tally(); }

  bool TryStage([[maybe_unused]] const std::uint64_t& number) override {
    if constexpr (can_stage) return pair_.TryStage(number);
    else return false;
  }
  bool TryFlush() override {
    if constexpr (can_stage) return pair_.TryFlush();
    else return false;
  }
  void HoldInlet([[maybe_unused]] bool hold) override {
    if constexpr (can_hold) pair_.HoldInlet(hold);
  }
  void HoldOutlet([[maybe_unused]] bool hold) override {
    if constexpr (can_hold) pair_.HoldOutlet(hold);
  }
  void Refresh() override {
    if constexpr (can_hold) pair_.Refresh();
  }

 private:
  Pair pair_;
};

template <typename S>
NumberSubject NumbersOf() {
  using Pair = NumberPairOf<S>;
  return {.retain = S::retain, .backlog = S::backlog, .can_stage = Pair::can_stage, .can_hold = Pair::can_hold,
          .open = [](std::size_t depth, std::uint64_t initial) -> std::unique_ptr<NumberPair> {
            return std::make_unique<Pair>(depth, initial);
          }};
}

}  // namespace uit::testing
