// How long does a reader take for each newer value, while the writer puts as fast as it can?

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include <uit/duct/mailbox_duct.hpp>
#include <uit/duct/ring_duct.hpp>

#include "microbenchmarks/support/pair.hpp"
#include "microbenchmarks/support/program.hpp"

namespace {

constexpr std::size_t capacity = 64;

template <typename T, typename Duct, std::size_t... depth>
struct Jump {
  Duct duct{depth...};
  void Put(const T& value) { duct.TryPut(value); }
  template <typename Use>
  bool TryRead(Use&& use) {
    if (duct.TryStep(uit::no_limit) == 0) return false;
    use(duct.Get());
    return true;
  }
};

template <typename T>
struct HandRingJump {
  bench::hand::Ring<T, capacity> ring;
  void Put(const T& value) { ring.TryPush(value); }
  template <typename Use>
  bool TryRead(Use&& use) {
    return ring.TryPopNewest(use);
  }
};

/// Steps one by one until the ring is empty, but at most once through it: a fast writer would keep it busy for ever.
template <typename T>
struct Draining {
  bench::hand::Ring<T, capacity> ring;
  void Put(const T& value) { ring.TryPush(value); }
  template <typename Use>
  bool TryRead(Use&& use) {
    std::size_t count = 0;
    while (count < capacity && ring.TryPop(use)) ++count;
    return count > 0;
  }
};

template <typename T>
struct HandTripleBuffer {
  bench::hand::TripleBuffer<T> buffer;
  void Put(const T& value) { buffer.Write(value); }
  template <typename Use>
  bool TryRead(Use&& use) {
    return buffer.TryRead(use);
  }
};

/// An atomic word suffices for a value of one word.
struct Word {
  alignas(2 * uit::cache_line) std::atomic<std::uint64_t> value{0};
  alignas(2 * uit::cache_line) std::uint64_t last = 0;
  void Put(const bench::Block<8>& block) { value.store(block.words[0], std::memory_order_release); }
  template <typename Use>
  bool TryRead(Use&& use) {
    const std::uint64_t now = value.load(std::memory_order_acquire);
    if (now == last) return false;
    last = now;
    use(bench::Block<8>{{now}});
    return true;
  }
};

template <typename T, typename Channel>
double FreshTime(bench::Crew& crew, Channel& channel, std::uint64_t count) {
  struct alignas(2 * uit::cache_line) Flag {
    std::atomic<bool> is_set{false};
  } done;
  uit::TimePoint start;
  uit::TimePoint end;
  crew.Run([&](std::size_t member) {
    if (member == 0) {
      T message{};
      for (std::uint32_t i = 1; !done.is_set.load(std::memory_order_relaxed); ++i) {
        bench::Mark(message, i);
        channel.Put(message);
      }
    } else if (member == 1) {
      std::uint64_t sum = 0;
      const auto next = [&] {
        while (!channel.TryRead([&](const T& value) { sum += bench::Check(value); })) {
        }
      };
      next();
      start = uit::Now();
      for (std::uint64_t i = 0; i < count; ++i) next();
      end = uit::Now();
      done.is_set.store(true, std::memory_order_relaxed);
      bench::Keep(sum);
    }
  });
  return std::chrono::duration<double, std::nano>(end - start).count() / static_cast<double>(count);
}

/// One thread puts a value and reads it, in turns.
template <typename T, typename Channel>
void ReadAlone(Channel& channel, std::uint64_t count) {
  static std::uint32_t number = 0;  // no value twice in sequence, also from one call to the next
  T message{};
  std::uint64_t sum = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    bench::Mark(message, ++number);
    channel.Put(message);
    if (!channel.TryRead([&](const T& value) { sum += bench::Check(value); })) std::abort();
  }
  bench::Keep(sum);
}

template <typename T, typename Channel>
void Add(bench::Contest& contest, bench::Crew& crew, const std::string& name) {
  const auto channel = std::make_shared<Channel>();
  contest.Add(name, [&crew, channel](const bench::Load& load) { return FreshTime<T>(crew, *channel, load.count); });
  contest.Count(name, [channel](std::uint64_t count) { ReadAlone<T>(*channel, count); });
}

template <typename T>
void Measure(bench::Program& program, bench::Crew& crew, const std::string& size) {
  const std::string name = "jump to latest, " + size;
  bench::Contest contest{name, bench::Unit::nanoseconds};
  Add<T, Jump<T, uit::MailboxDuct<T, uit::Spsc>>>(contest, crew, "MailboxDuct");
  Add<T, Jump<T, uit::RingDuct<T, uit::Spsc>, capacity>>(contest, crew, "RingDuct, jump");
  Add<T, HandTripleBuffer<T>>(contest, crew, "hand triple buffer");
  Add<T, HandRingJump<T>>(contest, crew, "hand ring, jump");
  Add<T, Draining<T>>(contest, crew, "hand ring, draining");
  // A reader that wants the newest value does not drain a ring. This shows the gain of a jump, and is not a claim.
  contest.Say({.name = name + ": to draining", .ours = "MailboxDuct", .against = {"hand ring, draining"}});
  if constexpr (sizeof(T) == 8) {
    Add<T, Word>(contest, crew, "atomic word");
    contest.Say({.name = name + ": to an atomic word", .ours = "MailboxDuct", .against = {"atomic word"}, .at_most = 1.1});
  }
  contest.Say({.name = name + ": to a triple buffer by hand",
               .ours = "MailboxDuct",
               .against = {"hand triple buffer"},
               .at_most = 1.1});
  program.Run(contest, crew);
}

}  // namespace

int main(int argc, char** argv) {
  bench::Program program{argc, argv};
  bench::Crew crew{2};
  Measure<bench::Block<8>>(program, crew, "8 B");
  Measure<bench::Block<64>>(program, crew, "64 B");
  Measure<bench::Block<1024>>(program, crew, "1 KiB");
  return program.Finish();
}
