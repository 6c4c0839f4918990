// Binary CSR files are read, or refused with the name of the file and a reason. Rows that are read in parts are those of the whole,
// and a graph that was read is the same after writing and reading.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <netuit/file/csr_file.hpp>
#include <netuit/graph/csr_rows.hpp>
#include <netuit/graph/topology.hpp>

#include "tests/fuzz/fuzz.hpp"

namespace {

using namespace uit::fuzz;

/// A file of this process, in memory where the system has such a folder.
const std::string& Path() {
  static const std::string path = [] {
    const std::filesystem::path memory = "/dev/shm";
    const auto folder = std::filesystem::is_directory(memory) ? memory : std::filesystem::temp_directory_path();
    return (folder / ("uit_csr_fuzz_" + std::to_string(getpid()))).string();
  }();
  return path;
}

/// Reads each half of the nodes, as two processes do.
void DemandSameInParts(const netuit::Topology& whole) {
  netuit::CsrFile file{Path()};
  for (netuit::NodeId first : {netuit::NodeId{0}, file.NumNodes() / 2}) {
    const netuit::NodeId last = first == 0 ? file.NumNodes() / 2 : file.NumNodes();
    const netuit::CsrRows rows = file.Rows(first, last);
    Demand(rows.NumNodes() == last - first, "a part has its nodes");
    for (netuit::NodeId node = first; node < last; ++node) {
      const auto count = rows.first_out[node - first + 1] - rows.first_out[node - first];
      Demand(count == whole.OutNeighbors(node).size(), "a node in a part has its outputs");
    }
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::ofstream{Path(), std::ios::binary}.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  netuit::Topology topology;
  if (Accepts([&] { topology = netuit::ReadCsr(Path()); }, Path() + ":", false)) {
    DemandSameInParts(topology);
    netuit::WriteCsr(Path(), topology);
    Demand(netuit::ReadCsr(Path()) == topology, "a graph comes back as it was");
  }
  std::filesystem::remove(Path());
  return 0;
}
