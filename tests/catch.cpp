// The file that a target must have to hold the headers which all tests share precompiled.
#include "catch.h"
