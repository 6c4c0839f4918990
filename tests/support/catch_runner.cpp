// Catch2's runner, compiled once for all tests: 2.13's takes 13 s.
#if UIT_CATCH_MAJOR < 3
#define CATCH_CONFIG_RUNNER
#endif
#include "tests/support/catch.hpp"
#include "tests/support/catch_runner.hpp"

int RunTests(int argc, const char* const* argv) {
  Catch::Session session;
#if UIT_CATCH_MAJOR < 3
  session.configData().useColour = Catch::UseColour::No;
#else
  session.configData().defaultColourMode = Catch::ColourMode::None;
#endif
  return session.run(argc, argv);
}
