// The version is a dotted triple.
#include "core/version.h"

#include <gtest/gtest.h>

#include <regex>
#include <string>

TEST(Version, IsDottedTriple) {
    EXPECT_TRUE(std::regex_match(std::string(unisono::version()), std::regex(R"(\d+\.\d+\.\d+)")));
}
