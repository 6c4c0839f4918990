#pragma once

#include <sys/resource.h>

#include <csignal>

namespace uit::testing {

/// While it lives, no file of this process can grow beyond so many bytes, as on a full disk.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t num_bytes) {
    getrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit small{.rlim_cur = num_bytes, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;
  ~SmallFiles() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace uit::testing
