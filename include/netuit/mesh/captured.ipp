#pragma once

#include <filesystem>
#include <ios>
#include <ostream>
#include <string>
#include <vector>

#include <netuit/file/atomic_file.hpp>
#include <netuit/mesh/captured.hpp>
#include <netuit/mesh/mesh_core.hpp>
#include <netuit/mesh/on_root.hpp>
#include <uit/config.hpp>
#include <uit/support/bytes.hpp>

namespace netuit::detail {

UIT_DEFINE void WriteFrames(const MeshCore& mesh, const std::filesystem::path& path, const std::string& header,
                            const std::vector<uit::ByteView>& frames) {
  OnRoot(mesh.GetWorld(), [&] {
    WriteFileAtomically(path, [&](std::ostream& out) {
      out << header;
      for (const uit::ByteView values : frames)
        out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size()));
    });
    return 0;
  });
}

}  // namespace netuit::detail
