// Functions of Python's math that are not in the table of operations, for compiled code: the C
// library's, which Python calls itself (gamma and lgamma apart, whose last bits may differ).
#include <bit>
#include <cmath>

#include "core/native/native.h"

extern "C" double lgamma_r(double x, int* sign);  // lgamma writes a global variable

namespace unisono::library {

namespace {

double of_bits(std::int64_t v) { return std::bit_cast<double>(v); }

/// [bits of a number]: [bits of the function's value]
template <double (*function)(double)>
void of_one(std::int64_t* v) {
    v[0] = std::bit_cast<std::int64_t>(function(of_bits(v[0])));
}

double log_gamma(double x) {
    int sign = 0;
    return lgamma_r(x, &sign);
}

/// [bits of a number, bits of a divisor]: [bits of the IEEE remainder]
void remainder(std::int64_t* v) {
    v[0] = std::bit_cast<std::int64_t>(std::remainder(of_bits(v[0]), of_bits(v[1])));
}

[[maybe_unused]] const bool natives = add_natives({{"math_of_erf", of_one<std::erf>},
                                                   {"math_of_erfc", of_one<std::erfc>},
                                                   {"math_of_gamma", of_one<std::tgamma>},
                                                   {"math_of_lgamma", of_one<log_gamma>},
                                                   {"math_of_remainder", remainder}});

}  // namespace

}  // namespace unisono::library
