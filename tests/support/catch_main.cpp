// The main of every test that runs in one process.
#include "tests/support/catch_runner.hpp"

int main(int argc, char** argv) { return RunTests(argc, argv); }
