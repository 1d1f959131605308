// A cuSOLVER for tests: LAPACK of the host, in UNISONO_TEST_LAPACK, with all arguments checked.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "cuda_driver/libraries/library.h"

namespace {

using namespace cuda_libraries;
constexpr Codes codes{3, 6};  // CUSOLVER_STATUS_INVALID_VALUE, CUSOLVER_STATUS_EXECUTION_FAILED
using Int = std::int64_t;     // scipy-openblas64's

struct Handle : Bound {};
std::mutex mutex;
std::set<Handle*>& handles() {
    static auto& all = *new std::set<Handle*>;
    return all;
}
Handle* find(void* handle) {
    std::lock_guard lock(mutex);
    auto* h = static_cast<Handle*>(handle);
    return handles().contains(h) ? h : nullptr;
}

void* routine(const std::string& name) {
    static void* library = [] {
        const char* file = std::getenv("UNISONO_TEST_LAPACK");
        return dlopen(file ? file : "libscipy_openblas64_.so", RTLD_NOW | RTLD_LOCAL);
    }();
    void* found = library ? dlsym(library, ("scipy_" + name + "_64_").c_str()) : nullptr;
    if (found) return found;
    std::fprintf(stderr, "cuSOLVER of tests: no routine %s in UNISONO_TEST_LAPACK\n", name.c_str());
    std::abort();
}

template <class... A>
void lapack(const std::string& name, A*... arguments) {
    reinterpret_cast<void (*)(A * ...)>(routine(name))(arguments...);
}

/// One call: what it uses, and what it does once it is its turn.
template <class T>
struct Solver {
    std::string name;  ///< of the routine, behind the letter
    char letter;
    Handle* handle;
    std::string text() const { return "cusolverDn" + name; }

    int wrong(const char* what) const { return violation(codes.wrong, text() + ": " + what); }
    /// f() is LAPACK's answer.
    int run(std::vector<Use> uses, std::function<Int()> f, int* info) const {
        if (!handle) return violation(1, text() + ": no handle");
        uses.push_back({info, 4, true});
        const std::string counted = "cusolverDn" + std::string(1, letter) + name;
        return submit(codes, counted.c_str(), *handle, uses,
                      [f = std::move(f), info] { *info = static_cast<int>(f()); });
    }
    std::string as_lapack(const char* spelled = nullptr) const {
        return std::string(1, static_cast<char>(letter + 32)) + (spelled ? spelled : name.c_str());
    }
};

template <class T>
constexpr std::int64_t bytes(std::int64_t n) {
    return n * static_cast<std::int64_t>(sizeof(T));
}

/// What the workspace of a routine has at least; some number that grows with the matrix.
int work_size(int m, int n) { return 3 * m + 5 * n + 16; }

/// Calls a routine twice: for the size of its work, then for the result.
template <class T, class F>
void with_work(F&& f) {
    T size{};
    Int ask = -1;
    f(&size, &ask);
    Int count = std::max<Int>(1, static_cast<Int>(std::real(size)));
    std::vector<T> work(static_cast<std::size_t>(count));
    f(work.data(), &count);
}

}  // namespace

extern "C" {

int cusolverDnCreate(void** made) {
    auto* h = new Handle;
    h->context = current_context();
    if (!h->context) return violation(1, "cusolverDnCreate: no context is current");
    std::lock_guard lock(mutex);
    handles().insert(h);
    *made = h;
    return 0;
}

int cusolverDnSetStream(void* handle, void* stream) {
    Handle* h = find(handle);
    if (!h) return violation(1, "cusolverDnSetStream: no handle");
    h->stream = stream;
    h->has_stream = true;
    return 0;
}

}  // extern "C"

namespace {

int give_size(void* handle, const char* what, int m, int n, int lda, int* size) {
    if (!find(handle)) return violation(1, std::string(what) + ": no handle");
    if (m < 0 || n < 0 || lda < std::max(1, m))
        return violation(codes.wrong, std::string(what) + ": a wrong size");
    *size = work_size(m, n);
    return 0;
}

template <class T>
int potrf(char letter, void* handle, int uplo, int n, void* a, int lda, void* work, int size,
          int* info) {
    const Solver<T> s{"potrf", letter, find(handle)};
    if (uplo < 0 || uplo > 1 || n < 1 || lda < n || size < work_size(n, n))
        return s.wrong("a wrong argument");
    return s.run(
        {{a, extent(n, n, lda, sizeof(T)), true}, {work, bytes<T>(size), true}},
        [=] {
            char which = uplo ? 'U' : 'L';
            Int rows = n, leading = lda, answer = 0;
            lapack(s.as_lapack(), &which, &rows, static_cast<T*>(a), &leading, &answer);
            return answer;
        },
        info);
}

template <class T>
int getrf(char letter, void* handle, int m, int n, void* a, int lda, void* work, int* pivots,
          int* info) {
    const Solver<T> s{"getrf", letter, find(handle)};
    if (m < 1 || n < 1 || lda < m || !pivots) return s.wrong("a wrong argument");
    return s.run(
        {{a, extent(m, n, lda, sizeof(T)), true},
         {work, bytes<T>(work_size(m, n)), true},
         {pivots, bytes<int>(std::min(m, n)), true}},
        [=] {
            Int rows = m, columns = n, leading = lda, answer = 0;
            std::vector<Int> found(static_cast<std::size_t>(std::min(m, n)));
            lapack(s.as_lapack(), &rows, &columns, static_cast<T*>(a), &leading, found.data(),
                   &answer);
            std::copy(found.begin(), found.end(), pivots);
            return answer;
        },
        info);
}

template <class T>
int getrs(char letter, void* handle, int op, int n, int sides, const void* a, int lda,
          const int* pivots, void* b, int ldb, int* info) {
    const Solver<T> s{"getrs", letter, find(handle)};
    if (op < 0 || op > 1 || n < 1 || sides < 1 || lda < n || ldb < n)
        return s.wrong("a wrong argument");
    return s.run(
        {{a, extent(n, n, lda, sizeof(T))},
         {pivots, bytes<int>(n)},
         {b, extent(n, sides, ldb, sizeof(T)), true}},
        [=] {
            char which = op ? 'T' : 'N';
            Int rows = n, columns = sides, leading = lda, leading_b = ldb, answer = 0;
            std::vector<Int> found(pivots, pivots + n);
            lapack(s.as_lapack(), &which, &rows, &columns, static_cast<const T*>(a), &leading,
                   found.data(), static_cast<T*>(b), &leading_b, &answer);
            return answer;
        },
        info);
}

template <class T>
int geqrf(char letter, void* handle, int m, int n, void* a, int lda, void* tau, void* work,
          int size, int* info) {
    const Solver<T> s{"geqrf", letter, find(handle)};
    if (m < 1 || n < 1 || lda < m || size < work_size(m, n)) return s.wrong("a wrong argument");
    return s.run(
        {{a, extent(m, n, lda, sizeof(T)), true},
         {tau, bytes<T>(std::min(m, n)), true},
         {work, bytes<T>(size), true}},
        [=] {
            Int rows = m, columns = n, leading = lda, answer = 0;
            with_work<T>([&](T* w, Int* count) {
                lapack(s.as_lapack(), &rows, &columns, static_cast<T*>(a), &leading,
                       static_cast<T*>(tau), w, count, &answer);
            });
            return answer;
        },
        info);
}

template <class T>
int orgqr(char letter, const char* name, void* handle, int m, int n, int k, void* a, int lda,
          const void* tau, void* work, int size, int* info) {
    const Solver<T> s{name, letter, find(handle)};
    if (m < 1 || n < 1 || n > m || k > n || lda < m || size < work_size(m, n))
        return s.wrong("a wrong argument");
    return s.run(
        {{a, extent(m, n, lda, sizeof(T)), true}, {tau, bytes<T>(k)}, {work, bytes<T>(size), true}},
        [=] {
            Int rows = m, columns = n, reflectors = k, leading = lda, answer = 0;
            with_work<T>([&](T* w, Int* count) {
                lapack(s.as_lapack(), &rows, &columns, &reflectors, static_cast<T*>(a), &leading,
                       static_cast<const T*>(tau), w, count, &answer);
            });
            return answer;
        },
        info);
}

template <class T, class R>
int gesvd(char letter, void* handle, signed char job_u, signed char job_vt, int m, int n, void* a,
          int lda, void* values, void* u, int ldu, void* vt, int ldvt, void* work, int size,
          void* real, int* info) {
    const Solver<T> s{"gesvd", letter, find(handle)};
    const bool vectors = job_u != 'N';
    if (m < n || n < 1 || lda < m || job_u != job_vt || size < work_size(m, n) || !real ||
        (job_u != 'A' && job_u != 'S' && job_u != 'N') || (vectors && (ldu < m || ldvt < n)))
        return s.wrong("a wrong argument");
    const int kept = job_u == 'A' ? m : n;
    return s.run(
        {{a, extent(m, n, lda, sizeof(T)), true},
         {values, bytes<R>(n), true},
         {u, vectors ? extent(m, kept, ldu, sizeof(T)) : 0, true},
         {vt, vectors ? extent(n, n, ldvt, sizeof(T)) : 0, true},
         {work, bytes<T>(size), true},
         {real, bytes<R>(n), true}},
        [=] {
            char job = static_cast<char>(job_u);
            Int rows = m, columns = n, leading = lda, leading_u = ldu, leading_vt = ldvt,
                answer = 0;
            std::vector<R> further(static_cast<std::size_t>(5 * n));
            with_work<T>([&](T* w, Int* count) {
                if constexpr (std::is_same_v<T, R>)
                    lapack(s.as_lapack(), &job, &job, &rows, &columns, static_cast<T*>(a), &leading,
                           static_cast<R*>(values), static_cast<T*>(u), &leading_u,
                           static_cast<T*>(vt), &leading_vt, w, count, &answer);
                else
                    lapack(s.as_lapack(), &job, &job, &rows, &columns, static_cast<T*>(a), &leading,
                           static_cast<R*>(values), static_cast<T*>(u), &leading_u,
                           static_cast<T*>(vt), &leading_vt, w, count, further.data(), &answer);
            });
            return answer;
        },
        info);
}

template <class T, class R>
int syevd(char letter, const char* name, void* handle, int vectors, int uplo, int n, void* a,
          int lda, void* values, void* work, int size, int* info) {
    const Solver<T> s{name, letter, find(handle)};
    if (vectors < 0 || vectors > 1 || uplo < 0 || uplo > 1 || n < 1 || lda < n ||
        size < work_size(n, n))
        return s.wrong("a wrong argument");
    return s.run(
        {{a, extent(n, n, lda, sizeof(T)), true},
         {values, bytes<R>(n), true},
         {work, bytes<T>(size), true}},
        [=] {
            char job = vectors ? 'V' : 'N', which = uplo ? 'U' : 'L';
            Int rows = n, leading = lda, answer = 0;
            std::vector<R> further(static_cast<std::size_t>(3 * n + 1));
            // The plain routine: its work is one array.
            with_work<T>([&](T* w, Int* count) {
                if constexpr (std::is_same_v<T, R>)
                    lapack(s.as_lapack("syev"), &job, &which, &rows, static_cast<T*>(a), &leading,
                           static_cast<R*>(values), w, count, &answer);
                else
                    lapack(s.as_lapack("heev"), &job, &which, &rows, static_cast<T*>(a), &leading,
                           static_cast<R*>(values), w, count, further.data(), &answer);
            });
            return answer;
        },
        info);
}

}  // namespace

extern "C" {

#define UNISONO_CUSOLVER(L, T, R, orgqr_name, syevd_name)                                          \
    int cusolverDn##L##potrf_bufferSize(void* h, int, int n, void*, int lda, int* size) {          \
        return give_size(h, "potrf_bufferSize", n, n, lda, size);                                  \
    }                                                                                              \
    int cusolverDn##L##potrf(void* h, int uplo, int n, void* a, int lda, void* work, int size,     \
                             int* info) {                                                          \
        return potrf<T>(#L[0], h, uplo, n, a, lda, work, size, info);                              \
    }                                                                                              \
    int cusolverDn##L##getrf_bufferSize(void* h, int m, int n, void*, int lda, int* size) {        \
        return give_size(h, "getrf_bufferSize", m, n, lda, size);                                  \
    }                                                                                              \
    int cusolverDn##L##getrf(void* h, int m, int n, void* a, int lda, void* work, int* pivots,     \
                             int* info) {                                                          \
        return getrf<T>(#L[0], h, m, n, a, lda, work, pivots, info);                               \
    }                                                                                              \
    int cusolverDn##L##getrs(void* h, int op, int n, int sides, const void* a, int lda,            \
                             const int* pivots, void* b, int ldb, int* info) {                     \
        return getrs<T>(#L[0], h, op, n, sides, a, lda, pivots, b, ldb, info);                     \
    }                                                                                              \
    int cusolverDn##L##geqrf_bufferSize(void* h, int m, int n, void*, int lda, int* size) {        \
        return give_size(h, "geqrf_bufferSize", m, n, lda, size);                                  \
    }                                                                                              \
    int cusolverDn##L##geqrf(void* h, int m, int n, void* a, int lda, void* tau, void* work,       \
                             int size, int* info) {                                                \
        return geqrf<T>(#L[0], h, m, n, a, lda, tau, work, size, info);                            \
    }                                                                                              \
    int cusolverDn##L##orgqr_name##_bufferSize(void* h, int m, int n, int, const void*, int lda,   \
                                               const void*, int* size) {                           \
        return give_size(h, "orgqr_bufferSize", m, n, lda, size);                                  \
    }                                                                                              \
    int cusolverDn##L##orgqr_name(void* h, int m, int n, int k, void* a, int lda, const void* tau, \
                                  void* work, int size, int* info) {                               \
        return orgqr<T>(#L[0], #orgqr_name, h, m, n, k, a, lda, tau, work, size, info);            \
    }                                                                                              \
    int cusolverDn##L##gesvd_bufferSize(void* h, int m, int n, int* size) {                        \
        if (m < n) return violation(3, "gesvd_bufferSize: more columns than rows");                \
        return give_size(h, "gesvd_bufferSize", m, n, m, size);                                    \
    }                                                                                              \
    int cusolverDn##L##gesvd(void* h, signed char job_u, signed char job_vt, int m, int n,         \
                             void* a, int lda, void* s, void* u, int ldu, void* vt, int ldvt,      \
                             void* work, int size, void* real, int* info) {                        \
        return gesvd<T, R>(#L[0], h, job_u, job_vt, m, n, a, lda, s, u, ldu, vt, ldvt, work, size, \
                           real, info);                                                            \
    }                                                                                              \
    int cusolverDn##L##syevd_name##_bufferSize(void* h, int, int, int n, const void*, int lda,     \
                                               const void*, int* size) {                           \
        return give_size(h, "syevd_bufferSize", n, n, lda, size);                                  \
    }                                                                                              \
    int cusolverDn##L##syevd_name(void* h, int vectors, int uplo, int n, void* a, int lda,         \
                                  void* values, void* work, int size, int* info) {                 \
        return syevd<T, R>(#L[0], #syevd_name, h, vectors, uplo, n, a, lda, values, work, size,    \
                           info);                                                                  \
    }
UNISONO_CUSOLVER(S, float, float, orgqr, syevd)
UNISONO_CUSOLVER(D, double, double, orgqr, syevd)
UNISONO_CUSOLVER(C, std::complex<float>, float, ungqr, heevd)
UNISONO_CUSOLVER(Z, std::complex<double>, double, ungqr, heevd)

}  // extern "C"
