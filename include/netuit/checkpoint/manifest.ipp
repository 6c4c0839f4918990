#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <string>

#include <nlohmann/json.hpp>

#include <netuit/checkpoint/manifest.hpp>
#include <uit/config.hpp>
#include <uit/support/error.hpp>

namespace netuit::detail {

/// Digests are written as text, because not every reader of JSON has integers of 64 bits.
UIT_DEFINE std::string Hexadecimal(std::uint64_t number) {
  char text[16];
  const auto end = std::to_chars(text, text + sizeof text, number, 16).ptr;
  return {text, end};
}
UIT_DEFINE std::uint64_t FromHexadecimal(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  if (error != std::errc{} || end != text.data() + text.size()) throw uit::InputError("a digest is no number");
  return number;
}

UIT_DEFINE std::string CheckpointManifest::ToText() const {
  nlohmann::ordered_json json{{"format", "netuit checkpoint"}, {"version", 1},              {"data", data},
                              {"updates", num_updates},        {"nodes", num_nodes},        {"networks", nlohmann::json::array()},
                              {"values", nlohmann::json::array()}, {"notes", notes}};
  if (seed) json["seed"] = *seed;
  for (const SavedNetwork& network : networks)
    json["networks"].push_back({{"edges", network.num_edges}, {"digest", Hexadecimal(network.digest)}});
  for (const SavedValues& of : values) {
    nlohmann::ordered_json entry{{"name", of.name},
                                 {"of", of.of},
                                 {"network", of.network},
                                 {"type", Hexadecimal(of.type)},
                                 {"numpy", of.numpy.name},
                                 {"extents", of.numpy.extents},
                                 {"bytes", of.num_bytes},
                                 {"count", of.num_values},
                                 {"digest", Hexadecimal(of.digest)}};
    if (!of.policy.empty()) entry["policy"] = of.policy;
    if (of.older) {
      entry["older"] = {{"count", of.older->num_values},
                        {"digest", Hexadecimal(of.older->digest)},
                        {"counts_digest", Hexadecimal(of.older->counts_digest)}};
    }
    json["values"].push_back(std::move(entry));
  }
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

/// Throws uit::InputError at any other number: the JSON library would convert it to whatever it fits in.
UIT_DEFINE bool HasWholeNumber(int, nlohmann::json::parse_event_t, const nlohmann::json& parsed) {
  if (parsed.is_number() && !parsed.is_number_unsigned())
    throw uit::InputError("it has a number that is no whole number from 0 to 2^64 - 1");
  return true;
}

/// Returns what `read(json)` returns. Throws uit::InputError if the text is no such manifest: `what` says of what.
template <typename F>
auto ParseManifest(const std::string& text, const std::string& name, const std::string& what, F&& read) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text, HasWholeNumber);
    if (json.at("format") != "netuit " + what) throw uit::InputError("another format");
    const auto version = json.at("version").get<std::uint64_t>();
    if (version != 1)
      throw uit::InputError("its format has version " + std::to_string(version) + ", and this program reads version 1");
    return read(json);
  } catch (const uit::InputError& error) {
    throw uit::InputError(name + ": is no " + what + " that this program can read: " + error.what());
  } catch (const nlohmann::json::exception&) {
    throw uit::InputError(name + ": is no " + what + ", or damaged");
  }
}

UIT_DEFINE CheckpointManifest CheckpointManifest::Parse(const std::string& text, const std::string& name) {
  return ParseManifest(text, name, "checkpoint", [](const nlohmann::json& json) {
    CheckpointManifest manifest;
    json.at("data").get_to(manifest.data);
    json.at("updates").get_to(manifest.num_updates);
    if (json.contains("seed")) manifest.seed = json.at("seed").get<std::uint64_t>();
    json.at("nodes").get_to(manifest.num_nodes);
    json.at("notes").get_to(manifest.notes);
    for (const nlohmann::json& entry : json.at("networks")) {
      manifest.networks.push_back({.num_edges = entry.at("edges").get<std::uint64_t>(),
                                   .digest = FromHexadecimal(entry.at("digest").get<std::string>())});
    }
    for (const nlohmann::json& entry : json.at("values")) {
      SavedValues of;
      entry.at("name").get_to(of.name);
      entry.at("of").get_to(of.of);
      const auto network = entry.at("network").get<std::uint64_t>();
      if (network > std::numeric_limits<std::uint32_t>::max()) throw uit::InputError("it has a network with too large a number");
      of.network = static_cast<std::uint32_t>(network);
      of.type = FromHexadecimal(entry.at("type").get<std::string>());
      entry.at("numpy").get_to(of.numpy.name);
      entry.at("extents").get_to(of.numpy.extents);
      entry.at("bytes").get_to(of.num_bytes);
      entry.at("count").get_to(of.num_values);
      of.digest = FromHexadecimal(entry.at("digest").get<std::string>());
      if (entry.contains("policy")) entry.at("policy").get_to(of.policy);
      if (entry.contains("older")) {
        const nlohmann::json& older = entry.at("older");
        of.older = SavedOlderValues{.num_values = older.at("count").get<std::uint64_t>(),
                                    .digest = FromHexadecimal(older.at("digest").get<std::string>()),
                                    .counts_digest = FromHexadecimal(older.at("counts_digest").get<std::string>())};
      }
      manifest.values.push_back(std::move(of));
    }
    return manifest;
  });
}

UIT_DEFINE std::string GraphManifest::ToText() const {
  nlohmann::ordered_json json{
      {"format", "netuit graph"}, {"version", 1}, {"data", data}, {"nodes", num_nodes}, {"networks", nlohmann::json::array()}};
  if (labels_digest) json["labels_digest"] = Hexadecimal(*labels_digest);
  for (const SavedEdges& network : networks) {
    nlohmann::ordered_json digests = nlohmann::ordered_json::object();
    for (const auto& [what, digest] : network.digests) digests[what] = Hexadecimal(digest);
    json["networks"].push_back(
        {{"name", network.name}, {"period", network.period}, {"edges", network.num_edges}, {"digests", digests}});
  }
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

UIT_DEFINE GraphManifest GraphManifest::Parse(const std::string& text, const std::string& name) {
  return ParseManifest(text, name, "graph", [](const nlohmann::json& json) {
    GraphManifest manifest;
    json.at("data").get_to(manifest.data);
    json.at("nodes").get_to(manifest.num_nodes);
    if (json.contains("labels_digest")) manifest.labels_digest = FromHexadecimal(json.at("labels_digest").get<std::string>());
    for (const nlohmann::json& entry : json.at("networks")) {
      SavedEdges& network = manifest.networks.emplace_back();
      entry.at("name").get_to(network.name);
      entry.at("period").get_to(network.period);
      entry.at("edges").get_to(network.num_edges);
      for (const auto& [what, digest] : entry.at("digests").items())
        network.digests[what] = FromHexadecimal(digest.get<std::string>());
    }
    return manifest;
  });
}

}  // namespace netuit::detail
