#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/link/process_state.hpp>
#include <uit/support/peer_watch.hpp>
#include <uit/support/process_hooks.hpp>
#include <uit/support/sync.hpp>

namespace uit {

template <Synchronization Sync>
BasicProcessState<Sync>::BasicProcessState(ProcessHooks hooks)
    : hooks_(std::move(hooks)), watch_(std::make_unique<PeerWatch>()) {}

template <Synchronization Sync>
BasicProcessState<Sync>::~BasicProcessState() = default;

template <Synchronization Sync>
void BasicProcessState<Sync>::WarnOnce(const std::string& words) {
  {
    const std::lock_guard lock{mutex_};
    if (!hooks_.warn || !warned_.insert(words).second) return;
  }
  hooks_.warn(words);
}

template <Synchronization Sync>
void BasicProcessState<Sync>::WatchOver(const std::vector<ProcessIdentity>& peers) {
  watch_ = std::make_unique<PeerWatch>(peers, hooks_.give_up);
}

template <Synchronization Sync>
void BasicProcessState<Sync>::Fail(const std::string& why) {
  Note(why);
  has_failed_.store(true, std::memory_order_relaxed);
  Break();
}

template <Synchronization Sync>
void BasicProcessState<Sync>::Note(const std::string& why) {
  const std::lock_guard lock{mutex_};
  if (trouble_.empty()) trouble_ = why;
}

template <Synchronization Sync>
std::string BasicProcessState<Sync>::Trouble() const {
  const std::lock_guard lock{mutex_};
  return trouble_;
}

template <Synchronization Sync>
std::string BasicProcessState<Sync>::TakeUntold() {
  const std::lock_guard lock{mutex_};
  return std::exchange(is_told_, is_told_ || !trouble_.empty()) ? std::string{} : trouble_;
}

template <Synchronization Sync>
void BasicProcessState<Sync>::CountAsTold() {
  const std::lock_guard lock{mutex_};
  is_told_ = true;
}

}  // namespace uit

#if UIT_COMPILED
template class uit::BasicProcessState<uit::Spsc>;
#endif
