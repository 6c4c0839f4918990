#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <new>
#include <span>
#include <string>
#include <type_traits>

#include <uit/support/bytes.hpp>
#include <uit/support/error.hpp>
#include <uit/link/world.hpp>

namespace uit::testing {

/// A value that all processes of a world on one host share, whatever transport carries their messages.
///
/// The first process creates it with its default constructor. It must consist of lock-free atomics.
template <typename V>
  requires std::is_trivially_destructible_v<V>
class SharedPage {
 public:
  /// Collective.
  explicit SharedPage(const World& world) {
    std::string path;
    if (world.IsRoot()) {
      path = (std::filesystem::temp_directory_path() / "uit_test_page.XXXXXX").string();
      const int file = mkstemp(path.data());
      if (file < 0 || ftruncate(file, sizeof(V)) != 0) throw Error("cannot make " + path);
      close(file);
    }
    const ByteView own = std::as_bytes(std::span(path));
    const Bytes told = world.Broadcast({own.begin(), own.end()});
    path.assign(reinterpret_cast<const char*>(told.data()), told.size());
    const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
    void* const at = mmap(nullptr, sizeof(V), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (at == MAP_FAILED) throw Error("cannot map " + path);
    value_ = world.IsRoot() ? new (at) V : std::launder(static_cast<V*>(at));
    world.AllGatherValue(0);  // all have mapped it, and it has been created
    if (world.IsRoot()) std::filesystem::remove(path);
  }
  SharedPage(const SharedPage&) = delete;
  SharedPage& operator=(const SharedPage&) = delete;
  ~SharedPage() { munmap(value_, sizeof(V)); }

  V& operator*() const { return *value_; }
  V* operator->() const { return value_; }

 private:
  V* value_;
};

}  // namespace uit::testing
