#pragma once

/// Runs the tests of this program by Catch2's command line; not 0 if one failed.
/// Prints no colours: under a launcher, the terminal of a rank cannot show them.
int RunTests(int argc, const char* const* argv);
