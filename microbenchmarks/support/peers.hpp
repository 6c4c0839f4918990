#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

// Queues of other libraries, if installed; each is used in its fastest way.
#if __has_include(<boost/lockfree/spsc_queue.hpp>)
#include <boost/lockfree/spsc_queue.hpp>
#define BENCH_HAS_BOOST 1
#endif
#if __has_include(<readerwriterqueue/readerwriterqueue.h>)
#include <readerwriterqueue/readerwriterqueue.h>
#define BENCH_HAS_MOODYCAMEL 1
#endif
#if __has_include(<atomic_queue/atomic_queue.h>)
#include <atomic_queue/atomic_queue.h>
#define BENCH_HAS_ATOMIC_QUEUE 1
#endif

namespace bench::peer {

#ifdef BENCH_HAS_BOOST
template <typename T, std::size_t capacity>
class Boost {
 public:
  bool TryPush(const T& value) { return queue_.push(value); }
  template <typename Use>
  bool TryPop(Use&& use) {
    return queue_.consume_one([&](const T& value) { use(value); });
  }

 private:
  boost::lockfree::spsc_queue<T, boost::lockfree::capacity<capacity>> queue_;
};
#endif

#ifdef BENCH_HAS_MOODYCAMEL
template <typename T, std::size_t capacity>
class Moodycamel {
 public:
  bool TryPush(const T& value) { return queue_.try_enqueue(value); }
  template <typename Use>
  bool TryPop(Use&& use) {
    const T* front = queue_.peek();
    if (front == nullptr) return false;
    use(*front);
    return queue_.pop();
  }

 private:
  moodycamel::ReaderWriterQueue<T> queue_{capacity};
};

/// Pops by copying.
template <typename T, std::size_t capacity>
class MoodycamelCopying {
 public:
  bool TryPush(const T& value) { return queue_.try_enqueue(value); }
  template <typename Use>
  bool TryPop(Use&& use) {
    T value;
    if (!queue_.try_dequeue(value)) return false;
    use(value);
    return true;
  }

 private:
  moodycamel::ReaderWriterQueue<T> queue_{capacity};
};
#endif

#ifdef BENCH_HAS_ATOMIC_QUEUE
/// The "optimist": push and pop wait inside. Values of one word are never zero.
template <typename T, std::size_t capacity>
class AtomicQueue {
 public:
  bool TryPush(const T& value) {
    queue_.push(value);
    return true;
  }
  template <typename Use>
  bool TryPop(Use&& use) {
    use(queue_.pop());
    return true;
  }

 private:
  static constexpr auto size = static_cast<unsigned>(capacity);
  using Words = atomic_queue::AtomicQueue<std::uint32_t, size, 0, true, true, false, true>;
  using Others = atomic_queue::AtomicQueue2<T, size, true, true, false, true>;
  std::conditional_t<std::is_same_v<T, std::uint32_t>, Words, Others> queue_;
};
#endif

}  // namespace bench::peer
