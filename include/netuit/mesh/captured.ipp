#pragma once

#include <cstddef>
#include <filesystem>
#include <ios>
#include <ostream>
#include <string>

#include <netuit/file/atomic_file.hpp>
#include <netuit/mesh/captured.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/on_root.hpp>
#include <uit/config.hpp>
#include <uit/support/bytes.hpp>
#include <uit/support/function_ref.hpp>

namespace netuit::detail {

UIT_DEFINE void WriteFrames(const MeshCore& mesh, const std::filesystem::path& path, const std::string& header,
                            std::size_t count, uit::FunctionRef<uit::ByteView(std::size_t)> gather) {
  std::size_t next = 0;
  bool is_in_gather = false;
  const auto gather_next = [&] {
    is_in_gather = true;
    const uit::ByteView values = gather(next++);
    is_in_gather = false;
    return values;
  };
  const auto gather_rest = [&] {
    while (next < count) gather_next();
  };
  if (!mesh.GetWorld().IsRoot()) gather_rest();
  OnRoot(mesh.GetWorld(), [&] {
    try {
      WriteFileAtomically(path, [&](std::ostream& out) {
        out << header;
        while (next < count) {
          const uit::ByteView values = gather_next();
          out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size()));
        }
      });
    } catch (...) {
      if (!is_in_gather) gather_rest();  // the others wait for that
      throw;
    }
    return 0;
  });
}

}  // namespace netuit::detail
