#include <uit/inlet.hpp>
inline const char* Wish() { return std::getenv("WISH"); }
inline void Ignore() { std::signal(2, SIG_IGN); }
inline void End() { std::_Exit(1); }
inline void EndSoon() { std::quick_exit(1); }
inline void EndOther(int process) { ::kill(process, 9); }
