// Distributions of np.random in compiled code: names for the samplers of NumPy's old interface.
#include <bit>

#include "core/native/native.h"
#include "library/random/legacy_samplers.h"

namespace unisono::library {

namespace {

std::int64_t to_value(double drawn) { return std::bit_cast<std::int64_t>(drawn); }
std::int64_t to_value(std::int64_t drawn) { return drawn; }

/// [parameters as bits]: [bits of a number, or a whole number]
template <auto sampler, class... Bits>
void drawn(std::int64_t* v, Bits... bits) {
    v[0] = to_value(sampler(compiled_stream(), std::bit_cast<double>(bits)...));
}
template <auto sampler>
void of_none(std::int64_t* v) {
    drawn<sampler>(v);
}
template <auto sampler>
void of_one(std::int64_t* v) {
    drawn<sampler>(v, v[0]);
}
template <auto sampler>
void of_two(std::int64_t* v) {
    drawn<sampler>(v, v[0], v[1]);
}
template <auto sampler>
void of_three(std::int64_t* v) {
    drawn<sampler>(v, v[0], v[1], v[2]);
}

[[maybe_unused]] const bool natives = add_natives({
    {"random_gamma", of_one<legacy::gamma>},
    {"random_beta", of_two<legacy::beta>},
    {"random_chisquare", of_one<legacy::chisquare>},
    {"random_noncentral_chisquare", of_two<legacy::noncentral_chisquare>},
    {"random_f", of_two<legacy::f>},
    {"random_noncentral_f", of_three<legacy::noncentral_f>},
    {"random_standard_cauchy", of_none<legacy::cauchy>},
    {"random_standard_t", of_one<legacy::student>},
    {"random_wald", of_two<legacy::wald>},
    {"random_triangular", of_three<legacy::triangular>},
    {"random_vonmises", of_two<legacy::von_mises>},
    {"random_count_poisson", of_one<legacy::poisson>},
    {"random_count_binomial", of_two<legacy::binomial>},
    {"random_count_negative_binomial", of_two<legacy::negative_binomial>},
    {"random_count_geometric", of_one<legacy::geometric>},
    {"random_count_logseries", of_one<legacy::logseries>},
    {"random_count_zipf", of_one<legacy::zipf>},
    {"random_count_hypergeometric", of_three<legacy::hypergeometric>},
});

}  // namespace

}  // namespace unisono::library
