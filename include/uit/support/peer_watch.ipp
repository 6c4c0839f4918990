#pragma once

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <uit/config.hpp>
#include <uit/support/clock.hpp>
#include <uit/support/error.hpp>
#include <uit/support/peer_watch.hpp>

namespace uit {

UIT_DEFINE ProcessIdentity ProcessIdentity::OfThis(std::size_t rank) {
  struct stat about {};
  const bool is_known = stat("/proc/self/ns/pid", &about) == 0;
  return {.rank = rank, .process = getpid(), .numbers = is_known ? about.st_ino : 0};
}

UIT_DEFINE PeerWatch::PeerWatch(const std::vector<ProcessIdentity>& peers, std::function<void(const PeerLost&)> give_up)
    : give_up_(std::move(give_up)) {
  const ProcessIdentity own = ProcessIdentity::OfThis(0);
  for (const ProcessIdentity& peer : peers) {
    if (peer.process != own.process && own.numbers != 0 && peer.numbers == own.numbers) Watch(peer);
  }
  if (peers_.empty() && !Gone()) return;
  wake_ = eventfd(0, EFD_CLOEXEC);
  if (wake_ >= 0) StartThread();
}

UIT_DEFINE PeerWatch::~PeerWatch() {
  if (thread_.joinable()) {
    is_over_.store(true, std::memory_order_relaxed);
    const std::uint64_t one = 1;
    if (write(wake_, &one, sizeof one) == sizeof one) thread_.join();
    else thread_.detach();  // cannot happen: the event counter is at 0
  }
  for (const Peer& peer : peers_) Close(peer.handle);
  Close(wake_);
}

UIT_DEFINE std::vector<std::size_t> PeerWatch::AllGone() const {
  const std::lock_guard lock(mutex_);
  return gone_;
}

UIT_DEFINE bool PeerWatch::HasGone(std::size_t rank) const {
  if (!Gone()) return false;
  const std::lock_guard lock(mutex_);
  return std::find(gone_.begin(), gone_.end(), rank) != gone_.end();
}

UIT_DEFINE void PeerWatch::Check(const char* where) const {
  if (const auto rank = Gone()) throw PeerLost(*rank, where);
}

UIT_DEFINE void PeerWatch::Watch(const ProcessIdentity& peer) {
#ifdef SYS_pidfd_open
  const auto handle = static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(peer.process), 0U));
  if (handle >= 0) peers_.push_back({static_cast<std::size_t>(peer.rank), handle});
  else if (errno == ESRCH) Note(static_cast<std::size_t>(peer.rank));
  else return;
  ++num_watched_;
#endif
}

UIT_DEFINE void PeerWatch::Close(int handle) {
  if (handle >= 0) close(handle);
}

UIT_DEFINE void PeerWatch::Note(std::size_t rank) {
  const std::lock_guard lock(mutex_);
  gone_.push_back(rank);
  std::size_t none = nobody;
  first_gone_.compare_exchange_strong(none, rank, std::memory_order_release, std::memory_order_relaxed);
}

UIT_DEFINE void PeerWatch::StartThread() {
  sigset_t all;
  sigset_t previous;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &previous);
  try {
    thread_ = std::thread([this] { Work(); });
  } catch (const std::system_error&) {  // no thread available: no process is watched
  }
  pthread_sigmask(SIG_SETMASK, &previous, nullptr);
}

UIT_DEFINE void PeerWatch::Work() {
  std::vector<pollfd> handles{{.fd = wake_, .events = POLLIN, .revents = 0}};
  for (const Peer& peer : peers_) handles.push_back({.fd = peer.handle, .events = POLLIN, .revents = 0});
  const char* stuck_in = nullptr;
  TimePoint stuck_since{};
  while (!is_over_.load(std::memory_order_relaxed)) {
    const bool has_gone = Gone().has_value();
    if (poll(handles.data(), handles.size(), has_gone ? 100 : -1) < 0 && errno != EINTR) return;
    for (std::size_t i = 1; i < handles.size(); ++i) {
      if (handles[i].fd < 0 || handles[i].revents == 0) continue;
      handles[i].fd = -1;  // poll ignores it from now on
      Note(peers_[i - 1].rank);
    }
    const char* call = has_gone ? call_.load(std::memory_order_relaxed) : nullptr;
    if (std::exchange(stuck_in, call) != call) stuck_since = Now();
    if (call == nullptr || Now() - stuck_since <= std::chrono::seconds(3)) continue;
    if (give_up_) give_up_(PeerLost(*Gone(), call));
    stuck_since = Now();
  }
}

}  // namespace uit
