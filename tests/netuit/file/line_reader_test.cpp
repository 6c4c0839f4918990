#include <netuit/file/line_reader.hpp>

#include <sstream>
#include <string>
#include <vector>

#include <netuit/graph/random_stream.hpp>

#include "tests/support/catch.hpp"

using netuit::LineReader;

namespace {

std::vector<std::string> LinesOf(const std::string& text) {
  std::istringstream stream{text};
  LineReader reader{stream, "text"};
  std::vector<std::string> lines;
  while (const auto line = reader.Next()) {
    lines.emplace_back(*line);
    REQUIRE(reader.LineNumber() == lines.size());
  }
  return lines;
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_CASE("lines end in LF or CRLF, the last one perhaps in neither") {
  CHECK(LinesOf("") == Lines{});
  CHECK(LinesOf("\n") == Lines{""});
  CHECK(LinesOf("a\nb") == Lines{"a", "b"});
  CHECK(LinesOf("a\r\n\r\nb\r\n") == Lines{"a", "", "b"});
  CHECK(LinesOf("a\r") == Lines{"a"});
  CHECK(LinesOf("\xEF\xBB\xBF"
                "a\n\xEF\xBB\xBF") == Lines{"a", "\xEF\xBB\xBF"});
}

TEST_CASE("lines across the reader's blocks come whole") {
  netuit::RandomStream random{1};
  Lines lines;
  std::string text;
  for (int i = 0; i < 300; ++i) {
    lines.push_back(std::string(random.Below(i % 10 == 0 ? 200000 : 5000), static_cast<char>('a' + i % 26)));
    text += lines.back() + (i % 2 == 0 ? "\n" : "\r\n");
  }
  CHECK((LinesOf(text) == lines));
  for (const std::size_t length : {65534U, 65535U, 65536U, 65537U, 131071U, 131072U}) {
    const std::string line(length, 'x');
    CHECK((LinesOf(line + "\n" + line) == Lines{line, line}));
  }
}

TEST_CASE("a line may be as long as the cap and no longer") {
  for (const std::size_t cap : {10U, 65536U, 100000U}) {
    std::istringstream fits{std::string(cap, 'x') + "\n" + std::string(cap, 'y')};
    LineReader reader{fits, "text", cap};
    CHECK(reader.Next()->size() == cap);
    CHECK(reader.Next()->size() == cap);
    CHECK_FALSE(reader.Next());

    std::istringstream too_long{"a\n" + std::string(cap + 1, 'x') + "\n"};
    LineReader strict{too_long, "text", cap};
    strict.Next();
    CHECK_THROWS_WITH(strict.Next(), "text:2: a line longer than " + std::to_string(cap) + " bytes");
  }
}

TEST_CASE("quoted text is short, of one line and printable") {
  CHECK(netuit::Quoted("a b") == "'a b'");
  CHECK(netuit::Quoted("a\n\x7f") == "'a\\x0a\\x7f'");
  CHECK(netuit::Quoted(std::string(41, 'x')) == "'" + std::string(40, 'x') + "…'");
}
