// The manifest of a checkpoint or of a saved graph is read, or refused with its name and the reason. One that was read is the same
// after writing and reading.
#include <string>

#include <netuit/checkpoint/manifest.hpp>

#include "tests/fuzz/fuzz.hpp"

namespace {

template <typename Manifest>
void Try(const std::string& text) {
  using namespace uit::fuzz;
  Manifest manifest;
  if (!Accepts([&] { manifest = Manifest::Parse(text, "list"); }, "list: ", false)) return;
  const std::string written = manifest.ToText();
  Demand(Manifest::Parse(written, "again").ToText() == written, "a manifest comes back as it was");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = uit::fuzz::TextOf(data, size);
  Try<netuit::detail::CheckpointManifest>(text);
  Try<netuit::detail::GraphManifest>(text);
  return 0;
}
