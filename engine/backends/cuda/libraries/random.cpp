// Random numbers by cuRAND.
#include "backends/cuda/libraries/libraries.h"
#include "core/error.h"

namespace unisono::cuda {

bool CudaLibraries::draws() { return random_api(driver_) != nullptr; }

void CudaLibraries::draw(const LibraryDraw& d) {
    const RandomApi* api = random_api(driver_);
    const RandomHandle handle = api ? random_handle(device_.here(), d.generator) : nullptr;
    if (!handle)
        fail(ErrorKind::Device, "random: device '" + device_.info().name +
                                    "' has no cuRAND that works; see `python -m unisono doctor`");
    void* to = address_of(d.to, d.dtype);
    const auto count = static_cast<std::size_t>(d.count);
    const bool is_single = d.dtype == DType::Float32;
    submit("curandGenerate", [&](Stream stream) {
        check(api->set_stream(handle, stream), "curandSetStream");
        check(api->set_seed(handle, d.seed), "curandSetPseudoRandomGeneratorSeed");
        check(api->set_offset(handle, d.offset), "curandSetGeneratorOffset");
        if (d.is_normal && is_single)
            check(api->normal_single(handle, to, count, static_cast<float>(d.mean),
                                     static_cast<float>(d.deviation)),
                  "curandGenerateNormal");
        else if (d.is_normal)
            check(api->normal_double(handle, to, count, d.mean, d.deviation),
                  "curandGenerateNormalDouble");
        else
            check((is_single ? api->uniform_single : api->uniform_double)(handle, to, count),
                  "curandGenerateUniform");
    });
}

}  // namespace unisono::cuda
