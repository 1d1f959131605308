// NVIDIA's libraries by their files' names, and the functions of them that are used.
#include "backends/cuda/libraries/loader.h"

namespace unisono::cuda {

namespace {

/// A file, and the driver that it needs: libraries run on drivers of their own CUDA release and of
/// later ones.
struct File {
    const char* name;
    int driver;
};

struct Wanted {
    const char* title;
    const char* package;  ///< the folder in NVIDIA's packages
    std::array<File, 3> files;
};
constexpr Wanted blas{
    "cuBLAS",
    "cublas",
    {{{"libcublas.so.13", 13000}, {"libcublas.so.12", 12000}, {"libcublas.so.11", 11000}}}};
constexpr Wanted solver{
    "cuSOLVER", "cusolver", {{{"libcusolver.so.12", 13000}, {"libcusolver.so.11", 11000}, {}}}};
constexpr Wanted fft{
    "cuFFT",
    "cufft",
    {{{"libcufft.so.12", 13000}, {"libcufft.so.11", 12000}, {"libcufft.so.10", 11000}}}};
/// It has kept its number from CUDA 11 to 13.
constexpr Wanted random{"cuRAND", "curand", {{{"libcurand.so.10", 11000}, {}, {}}}};

Library open(const Wanted& wanted, int driver) {
    std::vector<const char*> names;
    for (const File& file : wanted.files) {
        if (file.name && driver >= file.driver) names.push_back(file.name);
    }
    const char* const folders[] = {wanted.package, "cu13"};
    return open_library(names, folders);
}

/// Looks up routines of four types by prefix + letter + name, too.
class Finder : public LibraryFunctions {
  public:
    using LibraryFunctions::LibraryFunctions;
    template <class F>
    void find_all(const std::string& prefix, const std::array<std::string, 4>& names,
                  PerType<F>& routine) {
        for (std::size_t k = 0; k < 4; ++k) find(prefix + names[k], routine.of_[k]);
    }
    template <class F>
    void find_all(const std::string& prefix, const std::string& name, PerType<F>& routine) {
        find_all(prefix, {"S" + name, "D" + name, "C" + name, "Z" + name}, routine);
    }
};

BlasApi load_blas(int driver) {
    BlasApi a;
    a.library = open(blas, driver);
    Finder finder(a.library);
    finder.find("cublasCreate_v2", a.create);
    finder.find("cublasSetStream_v2", a.set_stream);
    finder.find("cublasSetWorkspace_v2", a.set_workspace);
    finder.find_all("cublas", "gemm_v2", a.gemm);
    finder.find_all("cublas", "gemmStridedBatched", a.gemm_batched);
    finder.find_all("cublas", "gemv_v2", a.gemv);
    return a;
}

SolverApi load_solver(int driver) {
    SolverApi a;
    a.library = open(solver, driver);
    Finder finder(a.library);
    const std::string prefix = "cusolverDn";
    const std::array<std::string, 4> orgqr{"Sorgqr", "Dorgqr", "Cungqr", "Zungqr"},
        syevd{"Ssyevd", "Dsyevd", "Cheevd", "Zheevd"};
    auto sized = [](std::array<std::string, 4> names) {
        for (std::string& name : names) name += "_bufferSize";
        return names;
    };
    finder.find(prefix + "Create", a.create);
    finder.find(prefix + "SetStream", a.set_stream);
    finder.find_all(prefix, "potrf_bufferSize", a.potrf_size);
    finder.find_all(prefix, "potrf", a.potrf);
    finder.find_all(prefix, "getrf_bufferSize", a.getrf_size);
    finder.find_all(prefix, "getrf", a.getrf);
    finder.find_all(prefix, "getrs", a.getrs);
    finder.find_all(prefix, "geqrf_bufferSize", a.geqrf_size);
    finder.find_all(prefix, "geqrf", a.geqrf);
    finder.find_all(prefix, sized(orgqr), a.orgqr_size);
    finder.find_all(prefix, orgqr, a.orgqr);
    finder.find_all(prefix, "gesvd_bufferSize", a.gesvd_size);
    finder.find_all(prefix, "gesvd", a.gesvd);
    finder.find_all(prefix, sized(syevd), a.syevd_size);
    finder.find_all(prefix, syevd, a.syevd);
    return a;
}

FftApi load_fft(int driver) {
    FftApi a;
    a.library = open(fft, driver);
    Finder finder(a.library);
    finder.find("cufftCreate", a.create);
    finder.find("cufftDestroy", a.destroy);
    finder.find("cufftSetStream", a.set_stream);
    finder.find("cufftSetAutoAllocation", a.set_auto_allocation);
    finder.find("cufftMakePlanMany64", a.make_plan);
    finder.find("cufftSetWorkArea", a.set_work_area);
    finder.find("cufftExecC2C", a.complex[0]);
    finder.find("cufftExecZ2Z", a.complex[1]);
    finder.find("cufftExecR2C", a.to_complex[0]);
    finder.find("cufftExecD2Z", a.to_complex[1]);
    finder.find("cufftExecC2R", a.to_real[0]);
    finder.find("cufftExecZ2D", a.to_real[1]);
    return a;
}

RandomApi load_random(int driver) {
    RandomApi a;
    a.library = open(random, driver);
    Finder finder(a.library);
    finder.find("curandCreateGenerator", a.create);
    finder.find("curandSetStream", a.set_stream);
    finder.find("curandSetPseudoRandomGeneratorSeed", a.set_seed);
    finder.find("curandSetGeneratorOffset", a.set_offset);
    finder.find("curandGenerateUniform", a.uniform_single);
    finder.find("curandGenerateUniformDouble", a.uniform_double);
    finder.find("curandGenerateNormal", a.normal_single);
    finder.find("curandGenerateNormalDouble", a.normal_double);
    return a;
}

/// Loaded once: all devices of a process have one driver.
template <auto load>
const auto& the_only(int driver) {
    static const auto loaded = load(driver);
    return loaded;
}

template <auto load>
auto present(int driver) {
    const auto& api = the_only<load>(driver);
    return api.library.handle ? &api : nullptr;
}

}  // namespace

const BlasApi* blas_api(int driver) { return present<load_blas>(driver); }
const SolverApi* solver_api(int driver) { return present<load_solver>(driver); }
const FftApi* fft_api(int driver) { return present<load_fft>(driver); }
const RandomApi* random_api(int driver) { return present<load_random>(driver); }

std::vector<std::string> library_reports(int driver) {
    auto line = [](const Wanted& wanted, const Library& library) {
        return std::string(wanted.title) + ": " + library.text;
    };
    return {line(blas, the_only<load_blas>(driver).library),
            line(solver, the_only<load_solver>(driver).library),
            line(fft, the_only<load_fft>(driver).library),
            line(random, the_only<load_random>(driver).library)};
}

}  // namespace unisono::cuda
