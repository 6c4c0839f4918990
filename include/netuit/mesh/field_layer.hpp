#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <netuit/mesh/field_memory.hpp>
#include <netuit/mesh/layer_base.hpp>
#include <netuit/mesh/layer_part.hpp>
#include <netuit/mesh/partition.hpp>
#include <uit/config.hpp>

namespace uit {

struct ExchangeKey;
struct ExchangeSpec;
class FrameWindow;

}  // namespace uit

namespace netuit {

class PublishedPart;

/// A field that is published along one network.
class FieldLayer final : public LayerBase {
 public:
  /// Refers to the field's memory and to the partitions. `type` is the hash of the value type. `is_first`: see PublishedPart.
  FieldLayer(const FieldMemory& memory, std::uint64_t type, const std::vector<std::unique_ptr<Partition>>& partitions,
             std::uint32_t network, bool is_first);
  ~FieldLayer() override;

  void Join(const LayerSite& site, std::uint32_t number) override;
  void JoinAwaited(const LayerSite& site, std::uint32_t number) override;
  LayerPart& Part(std::size_t thread) override;
  bool TellsUpdates() const override { return true; }
  LayerShape Shape() const override;

 private:
  /// An exchange that keeps every frame.
  struct AwaitedFrames;

  uit::ExchangeSpec AwaitedSpec(const LayerSite& site, const uit::ExchangeKey& key, const AwaitedFrames& frames,
                                bool is_report) const;
  /// Opens the sending half of such an exchange.
  uit::FrameWindow OpenWindow(const LayerSite& site, std::size_t thread, const uit::ExchangeKey& key, const AwaitedFrames& frames);
  /// Opens the receiving half: its members `awaited` and `awaited_reports`.
  template <typename R>
  void OpenReceiver(const LayerSite& site, std::size_t thread, const uit::ExchangeKey& key, const AwaitedFrames& frames,
                    R& receiver);

  std::uint64_t type_;
  std::size_t slot_bytes_;
  std::uint32_t network_;
  std::vector<std::unique_ptr<PublishedPart>> parts_;  // by thread
};

}  // namespace netuit

#if !UIT_COMPILED
#include <netuit/mesh/field_layer.ipp>
#endif
