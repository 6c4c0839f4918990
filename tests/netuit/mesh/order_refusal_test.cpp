// An object that nodes use one at a time, in any order, gives no turns.
#include <netuit/mesh/shared.hpp>

int& TakeTurn(netuit::Shared<int, netuit::Order::exclusive>& object, const netuit::Node& node) { return object.InTurn(node); }
