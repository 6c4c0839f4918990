#include <uit/exchange/handshake.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"

using namespace uit;

namespace {

Announcement Half(std::uint32_t index, bool is_incoming, ExchangeSpec spec = {.slot_bytes = 4}) {
  return {.spec = spec, .index = index, .is_incoming = is_incoming ? 1U : 0U};
}
std::string Unpack(const Bytes& bytes) {
  std::vector<Announcement> announcements;
  return UnpackGreeting(bytes, announcements);
}
bool Says(const std::string& text, const char* words) { return text.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("A greeting brings its announcements") {
  const std::vector<Announcement> sent{Half(0, false), Half(1, true, {.key = {.channel = 9}, .depth = 5})};
  std::vector<Announcement> received;
  CHECK(UnpackGreeting(PackGreeting(sent), received).empty());
  REQUIRE(received.size() == 2);
  CHECK(received[1].spec == sent[1].spec);
  CHECK(received[1].is_incoming == 1);
}

TEST_CASE("A greeting that cannot be is answered in words") {
  CHECK(Says(Unpack(Bytes(3)), "protocol"));
  CHECK(Says(Unpack(Bytes(1000)), "protocol"));
  CHECK(Says(Unpack(PackGreeting({}, {.version = 7})), "version 7"));
  CHECK(Says(Unpack(PackGreeting({}, {.announcement_bytes = 8})), "version"));
  CHECK(Says(Unpack(PackGreeting({}, {.magic = 8})), "protocol"));
  Bytes cut = PackGreeting({Half(0, false)});
  cut.pop_back();
  CHECK(Says(Unpack(cut), "cut short"));
}

TEST_CASE("Halves of the same key are paired, whatever their order") {
  const auto spec = [](std::uint64_t channel) { return ExchangeSpec{.key = {.channel = channel}}; };
  std::map<std::uint32_t, std::uint32_t> remote;
  CHECK(MatchAnnouncements({Half(0, false, spec(1)), Half(0, true, spec(3)), Half(1, false, spec(2))},
                           {Half(5, true, spec(2)), Half(0, false, spec(3)), Half(6, true, spec(1))}, remote)
            .empty());
  CHECK(remote == std::map<std::uint32_t, std::uint32_t>{{0, 6}, {1, 5}});
}

TEST_CASE("Halves that do not fit are named, and what does not") {
  const auto differ = [](const ExchangeSpec& inlet, const ExchangeSpec& outlet) {
    std::map<std::uint32_t, std::uint32_t> remote;
    return MatchAnnouncements({Half(0, false, inlet)}, {Half(0, true, outlet)}, remote);
  };
  const ExchangeSpec spec{.key = {.channel = 8, .layer = 2, .source = 3, .destination = 4}, .slot_bytes = 4};
  const auto with = [&spec](auto change) {
    ExchangeSpec changed = spec;
    change(changed);
    return changed;
  };
  CHECK(differ(spec, spec).empty());
  CHECK(Says(differ(spec, with([](auto& s) { s.slot_bytes = 8; })),
             "{layer 2, 3 -> 4, channel 8}: the message's size is 4 at the inlet and 8 at the outlet"));
  CHECK(Says(differ(spec, with([](auto& s) { s.type = 1; })), "the message's type is not the same"));
  CHECK(
      Says(differ(spec, with([](auto& s) { s.num_channels = 9; })), "the number of channels is 1 at the inlet and 9"));
  CHECK(Says(differ(spec, with([](auto& s) { s.retain = 1; })), "Policy::retain is not the same"));
  CHECK(Says(differ(spec, with([](auto& s) { s.consolidate = 1; })), "Policy::consolidate is not the same"));
  CHECK(Says(differ(spec, with([](auto& s) { s.max_message_bytes = 9; })), "the largest message's size is 0 at the inlet and 9"));
  CHECK(Says(differ(spec, with([](auto& s) { s.num_frames = 9; })), "the number of frames is 0 at the inlet and 9"));
  CHECK(Says(differ(spec, with([](auto& s) { s.depth = 3; })), "the depth is 1 at the inlet and 3"));
  CHECK(Says(differ(spec, with([](auto& s) { s.frame_bytes = 3; })), "the frame's size is 0 at the inlet and 3"));
  CHECK(Says(differ(spec, with([](auto& s) { s.key.channel = 1; })), "has no outlet there"));
  std::map<std::uint32_t, std::uint32_t> remote;
  CHECK(Says(MatchAnnouncements({}, {Half(0, true, spec)}, remote), "has an outlet there and no inlet here"));
  CHECK(Says(MatchAnnouncements({Half(0, false, spec)}, {Half(0, true, spec), Half(1, true, spec)}, remote),
             "two outlets"));
  CHECK(Says(MatchAnnouncements({Half(0, false, spec), Half(1, false, spec)}, {Half(0, true, spec)}, remote),
             "two inlets"));
}
