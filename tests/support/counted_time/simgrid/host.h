#pragma once

#include <simgrid/engine.h>
