// Factors lengths, makes roots of unity, and runs the passes.
#include "library/fft/fft_plan.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "core/threads/fork.h"

namespace unisono::library::fft {

namespace {

constexpr std::int64_t largest_radix = 61;  ///< beyond it a convolution is faster

std::vector<std::int64_t> factors_of(std::int64_t n) {
    std::vector<std::int64_t> f;
    while (n % 4 == 0) f.push_back(4), n /= 4;
    while (n % 2 == 0) f.push_back(2), n /= 2;
    for (std::int64_t p = 3; p * p <= n; p += 2) {
        while (n % p == 0) f.push_back(p), n /= p;
    }
    if (n > 1) f.push_back(n);
    return f;
}

/// Cell (i, j, k) of the input of a pass and of its output.
template <class X>
struct Cells {
    const Cx<X>* in;
    Cx<X>* out;
    std::int64_t ido, l1, radix;
    const Cx<X>& from(std::int64_t i, std::int64_t j, std::int64_t k) const {
        return in[i + ido * (j + radix * k)];
    }
    Cx<X>& to(std::int64_t i, std::int64_t k, std::int64_t j) const {
        return out[i + ido * (k + l1 * j)];
    }
};

template <class X, class T>
void pass_2(const Cells<X>& c, const std::complex<T>* w) {
    for (std::int64_t k = 0; k < c.l1; ++k) {
        for (std::int64_t i = 0; i < c.ido; ++i) {
            Cx<X> a = c.from(i, 0, k), b = c.from(i, 1, k);
            c.to(i, k, 0) = a + b;
            c.to(i, k, 1) = times(a - b, w[i]);
        }
    }
}

template <class X, class T>
void pass_4(const Cells<X>& c, const std::complex<T>* w) {
    const auto *w1 = w, *w2 = w + c.ido, *w3 = w + 2 * c.ido;
    for (std::int64_t k = 0; k < c.l1; ++k) {
        for (std::int64_t i = 0; i < c.ido; ++i) {
            Cx<X> s = c.from(i, 0, k) + c.from(i, 2, k), d = c.from(i, 0, k) - c.from(i, 2, k);
            Cx<X> t = c.from(i, 1, k) + c.from(i, 3, k), e = c.from(i, 1, k) - c.from(i, 3, k);
            c.to(i, k, 0) = s + t;
            c.to(i, k, 1) = times(Cx<X>{d.re + e.im, d.im - e.re}, w1[i]);
            c.to(i, k, 2) = times(s - t, w2[i]);
            c.to(i, k, 3) = times(Cx<X>{d.re - e.im, d.im + e.re}, w3[i]);
        }
    }
}

/// An odd radix: sums and differences of opposite cells halve the products. P is 0 where the radix
/// is known at run time only.
template <std::int64_t P, class X, class T>
void pass_odd(const Cells<X>& c, const std::complex<T>* w, const std::complex<T>* roots) {
    const std::int64_t p = P ? P : c.radix, half = (p - 1) / 2;
    constexpr std::int64_t room = P ? (P - 1) / 2 : (largest_radix - 1) / 2;
    Cx<X> sum[room], difference[room];
    for (std::int64_t k = 0; k < c.l1; ++k) {
        for (std::int64_t i = 0; i < c.ido; ++i) {
            Cx<X> first = c.from(i, 0, k), total = first;
            for (std::int64_t m = 0; m < half; ++m) {
                Cx<X> a = c.from(i, m + 1, k), b = c.from(i, p - 1 - m, k);
                sum[m] = a + b;
                difference[m] = a - b;
                total = total + sum[m];
            }
            c.to(i, k, 0) = total;
            for (std::int64_t q = 1; q <= half; ++q) {
                Cx<X> even = first, odd{X{}, X{}};
                std::int64_t at = 0;
                for (std::int64_t m = 0; m < half; ++m) {
                    at += q;
                    if (at >= p) at -= p;
                    const T cosine = roots[at].real(), sine = roots[at].imag();
                    even.re = even.re + sum[m].re * cosine;
                    even.im = even.im + sum[m].im * cosine;
                    odd.re = odd.re + difference[m].re * sine;
                    odd.im = odd.im + difference[m].im * sine;
                }
                // i times odd is added to one and taken from the other.
                c.to(i, k, q) =
                    times(Cx<X>{even.re - odd.im, even.im + odd.re}, w[(q - 1) * c.ido + i]);
                c.to(i, k, p - q) =
                    times(Cx<X>{even.re + odd.im, even.im - odd.re}, w[(p - q - 1) * c.ido + i]);
            }
        }
    }
}

}  // namespace

template <class T>
std::complex<T> root(std::int64_t k, std::int64_t n) {
    k %= n;
    long double angle = -2 * 3.14159265358979323846264338327950288L * static_cast<long double>(k) /
                        static_cast<long double>(n);
    return {static_cast<T>(std::cos(angle)), static_cast<T>(std::sin(angle))};
}
template std::complex<float> root<float>(std::int64_t, std::int64_t);
template std::complex<double> root<double>(std::int64_t, std::int64_t);

std::int64_t good_length(std::int64_t n) {
    std::int64_t best = 1;
    while (best < n) best *= 2;
    for (std::int64_t five = 1; five < best; five *= 5) {
        for (std::int64_t three = five; three < best; three *= 3) {
            std::int64_t x = three;
            while (x < n) x *= 2;
            best = std::min(best, x);
        }
    }
    return best;
}

std::int64_t middle_divisor(std::int64_t n) {
    auto primes = factors_of(n);
    if (primes.back() > largest_radix) return 1;
    std::vector<std::int64_t> divisors{1};
    for (std::int64_t p : primes) {
        std::size_t count = divisors.size();
        for (std::size_t k = 0; k < count; ++k) divisors.push_back(divisors[k] * p);
        std::sort(divisors.begin(), divisors.end());
        divisors.erase(std::unique(divisors.begin(), divisors.end()), divisors.end());
    }
    std::int64_t best = 1;
    for (std::int64_t d : divisors) {
        if (d * d <= n) best = std::max(best, d);
    }
    return best;
}

template <class T>
Plan<T>::Plan(std::int64_t n) : n_(n) {
    if (n <= 1) return;
    auto f = factors_of(n);
    if (*std::max_element(f.begin(), f.end()) > largest_radix) {
        make_chirp();
    } else {
        factor();
    }
}

template <class T>
void Plan<T>::factor() {
    std::int64_t l1 = 1;
    for (std::int64_t radix : factors_of(n_)) {
        Pass pass{radix, l1, n_ / (l1 * radix), {}, {}};
        for (std::int64_t j = 1; j < radix; ++j) {
            for (std::int64_t i = 0; i < pass.ido; ++i)
                pass.twiddles.push_back(root<T>(j * l1 * i, n_));
        }
        for (std::int64_t j = 0; j < radix; ++j) pass.roots.push_back(root<T>(j, radix));
        passes_.push_back(std::move(pass));
        l1 *= radix;
    }
}

template <class T>
void Plan<T>::make_chirp() {
    std::int64_t m = good_length(2 * n_ - 1);
    inner_ = of(m);
    std::vector<Cx<T>> filter(static_cast<std::size_t>(m)), scratch(static_cast<std::size_t>(m));
    for (std::int64_t k = 0; k < n_; ++k) {
        // k * k mod 2 n without overflow.
        auto square = static_cast<std::int64_t>(static_cast<unsigned long long>(k) *
                                                static_cast<unsigned long long>(k) %
                                                static_cast<unsigned long long>(2 * n_));
        auto w = root<T>(square, 2 * n_);
        chirp_.push_back(w);
        Cx<T> conjugate{w.real(), -w.imag()};
        filter[static_cast<std::size_t>(k)] = conjugate;
        if (k > 0) filter[static_cast<std::size_t>(m - k)] = conjugate;
    }
    const Cx<T>* made = inner_->run(filter.data(), scratch.data());
    auto scale = static_cast<T>(1.0L / static_cast<long double>(m));
    for (std::int64_t k = 0; k < m; ++k)
        filter_.push_back({made[k].re * scale, made[k].im * scale});
}

template <class T>
std::int64_t Plan<T>::scratch() const {
    return inner_ ? 2 * inner_->length() : n_;
}

template <class T>
template <class X>
Cx<X>* Plan<T>::run(Cx<X>* data, Cx<X>* scratch) const {
    return inner_ ? convolve(data, scratch) : passes(data, scratch);
}

template <class T>
template <class X>
Cx<X>* Plan<T>::passes(Cx<X>* data, Cx<X>* scratch) const {
    for (const Pass& pass : passes_) {
        Cells<X> c{data, scratch, pass.ido, pass.l1, pass.radix};
        const auto *w = pass.twiddles.data(), *roots = pass.roots.data();
        switch (pass.radix) {
            case 2: pass_2(c, w); break;
            case 3: pass_odd<3>(c, w, roots); break;
            case 4: pass_4(c, w); break;
            case 5: pass_odd<5>(c, w, roots); break;
            case 7: pass_odd<7>(c, w, roots); break;
            case 11: pass_odd<11>(c, w, roots); break;
            case 13: pass_odd<13>(c, w, roots); break;
            default: pass_odd<0>(c, w, roots); break;
        }
        std::swap(data, scratch);
    }
    return data;
}

/// A transform as a convolution with a chirp (Bluestein, 1970), by transforms of a good length.
template <class T>
template <class X>
Cx<X>* Plan<T>::convolve(Cx<X>* data, Cx<X>* scratch) const {
    std::int64_t m = inner_->length();
    Cx<X>*a = scratch, *b = scratch + m;
    for (std::int64_t k = 0; k < n_; ++k)
        a[k] = times(data[k], chirp_[static_cast<std::size_t>(k)]);
    for (std::int64_t k = n_; k < m; ++k) a[k] = {X{}, X{}};
    Cx<X>* once = inner_->run(a, b);
    for (std::int64_t k = 0; k < m; ++k) {
        Cx<X> product = times(once[k], filter_[static_cast<std::size_t>(k)]);
        once[k] = {product.im, product.re};  // swapped: the next transform is backward
    }
    Cx<X>* twice = inner_->run(once, once == a ? b : a);
    for (std::int64_t k = 0; k < n_; ++k)
        data[k] = times(Cx<X>{twice[k].im, twice[k].re}, chirp_[static_cast<std::size_t>(k)]);
    return data;
}

template <class T>
Roots<T>::Roots(std::int64_t n) {
    while (std::int64_t{1} << (2 * shift_) < n) ++shift_;
    mask_ = (std::int64_t{1} << shift_) - 1;
    for (std::int64_t k = 0; k <= mask_; ++k) fine_.push_back(root<T>(k, n));
    for (std::int64_t k = 0; k < n; k += mask_ + 1) coarse_.push_back(root<T>(k, n));
}

/// One object per length, made at its first use. Most programs transform few lengths.
template <class Kept>
static std::shared_ptr<const Kept> kept(std::int64_t n) {
    static ProcessMutex guard;
    static std::map<std::int64_t, std::shared_ptr<const Kept>> table;
    {
        std::lock_guard lock(guard);
        auto found = table.find(n);
        if (found != table.end()) return found->second;
    }
    auto made = std::make_shared<const Kept>(n);
    std::lock_guard lock(guard);
    constexpr std::size_t most = 64;
    if (table.size() >= most) table.clear();
    table[n] = made;
    return made;
}

template <class T>
std::shared_ptr<const Plan<T>> Plan<T>::of(std::int64_t n) {
    return kept<Plan>(n);
}
template <class T>
std::shared_ptr<const Roots<T>> Roots<T>::of(std::int64_t n) {
    return kept<Roots>(n);
}

template class Roots<float>;
template class Roots<double>;
template class Plan<float>;
template class Plan<double>;
template Cx<float>* Plan<float>::run(Cx<float>*, Cx<float>*) const;
template Cx<double>* Plan<double>::run(Cx<double>*, Cx<double>*) const;
template Cx<Vector<float>>* Plan<float>::run(Cx<Vector<float>>*, Cx<Vector<float>>*) const;
template Cx<Vector<double>>* Plan<double>::run(Cx<Vector<double>>*, Cx<Vector<double>>*) const;

}  // namespace unisono::library::fft
