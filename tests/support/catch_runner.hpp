#pragma once

/// Runs the tests of this program by Catch2's command line; not 0 if one failed.
/// Prints no colours: launchers give the ranks a terminal that is not one.
int RunTests(int argc, const char* const* argv);
