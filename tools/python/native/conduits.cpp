#include "conduits.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <variant>

#include <nanobind/nanobind.h>

#include <uit/support/error.hpp>

#include "job.hpp"

namespace netuit::python {

namespace nb = nanobind;

namespace {

uit::Process Reach(ConduitsObject& conduits, std::size_t peer, std::size_t source, std::size_t destination, const ConduitOptions& options) {
  return {.fabric = &conduits.Get(),
          .peer = peer,
          .key = {.channel = options.channel, .source = static_cast<std::uint32_t>(source), .destination = static_cast<std::uint32_t>(destination)},
          .depth = options.depth == 0 ? 1 : options.depth,
          .max_message_bytes = options.most_bytes};
}

ArrayInlet::End OpenInlet(const uit::Process& reach, bool keeps_newest) {
  if (keeps_newest) return uit::Inlet<ArrayMessage, uit::latest, Between>(reach);
  return uit::Inlet<ArrayMessage, uit::every, Between>(reach);
}
ArrayOutlet::End OpenOutlet(const uit::Process& reach, bool keeps_newest) {
  if (keeps_newest) return uit::Outlet<ArrayMessage, uit::latest, Between>(reach);
  return uit::Outlet<ArrayMessage, uit::every, Between>(reach);
}

}  // namespace

ConduitsObject::ConduitsObject() {
  Job& job = Job::Get();
  fabric_ = std::make_unique<uit::Fabric>(job.World());
  job.Add(*this);
}

ConduitsObject::~ConduitsObject() {
  Job::Forget(*this);
  Drop();
}

uit::Fabric& ConduitsObject::Get() const {
  if (!fabric_) throw uit::Error("the conduits have been closed");
  return *fabric_;
}

void ConduitsObject::Connect() {
  uit::Fabric& fabric = Get();
  const nb::gil_scoped_release release;
  fabric.Connect();
}

bool ConduitsObject::Close() {
  uit::Fabric& fabric = Get();
  const nb::gil_scoped_release release;
  return fabric.Close();
}

void ConduitsObject::Drop() {
  const nb::gil_scoped_release release;
  if (Job::IsOver()) fabric_.release();  // NOLINT(bugprone-unused-return-value): it can no longer be destroyed
  else fabric_.reset();
}

ArrayInlet::ArrayInlet(ConduitsObject& conduits, std::size_t to, const ConduitOptions& options)
    : end_(OpenInlet(Reach(conduits, to, Job::Get().World().Rank(), to, options), options.depth == 0)) {}

bool ArrayInlet::TryPut(const nb::bytes& head, const nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>& elements) {
  message_.resize(head.size() + elements.nbytes());
  std::memcpy(message_.data(), head.c_str(), head.size());
  if (elements.nbytes() != 0) std::memcpy(message_.data() + head.size(), elements.data(), elements.nbytes());
  return std::visit([&](auto& end) { return end.TryPut(message_); }, end_);
}

ArrayOutlet::ArrayOutlet(ConduitsObject& conduits, std::size_t source, const ConduitOptions& options)
    : end_(OpenOutlet(Reach(conduits, source, source, Job::Get().World().Rank(), options), options.depth == 0)) {}

bool ArrayOutlet::TryStep(bool is_to_newest) {
  return std::visit([&](auto& end) { return (is_to_newest ? end.Jump() : end.TryStep()) != 0; }, end_);
}

nb::bytes ArrayOutlet::Message() const {
  return std::visit(
      [](const auto& end) {
        const ArrayMessage& message = end.Get();
        return nb::bytes(message.data(), message.size());
      },
      end_);
}

}  // namespace netuit::python
