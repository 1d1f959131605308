// Random numbers of the vendor's library.
#include "backends/device_libraries.h"
#include "core/error.h"
#include "library/on_device/vendor/vendor.h"
#include "library/random/random.h"

namespace unisono::library {

void vendor::draw(DeviceWork& work, const primitives::Drawing& d, const DeviceVector& to) {
    DeviceLibraries* libraries = libraries_of(work.device());
    if (!libraries || !libraries->draws())
        fail(ErrorKind::Device,
             "random: device '" + work.device().info().name + "' has no library that draws");
    if (to.size == 0) return;
    const bool is_normal = d.what == Distribution::Normal;
    const bool is_odd = is_normal && to.size % 2 == 1;
    const DeviceVector made = is_odd ? work.scratch(to.dtype, to.size + 1) : to;
    // A pair of normal numbers of float64 takes four places of the sequence.
    libraries->draw({static_cast<int>(d.key.library),
                     d.key.key,
                     4 * d.key.next,
                     is_normal,
                     to.dtype,
                     {made.memory, made.offset},
                     made.size,
                     d.value[0],
                     d.value[1]});
    const std::int64_t size = size_of(to.dtype);
    if (is_odd)
        work.device().copy(to.memory, to.offset * size, made.memory, made.offset * size,
                           to.size * size);
    if (is_normal || (d.value[0] == 0 && d.value[1] == 1)) return;
    work.run("scale_and_shift",
             {to, Scalar::of(to.dtype, d.value[1] - d.value[0]), Scalar::of(to.dtype, d.value[0])},
             {to.size});
}

}  // namespace unisono::library
