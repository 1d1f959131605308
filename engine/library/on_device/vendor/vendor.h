// Products, factorisations and transforms by the vendor's libraries, where a device has them
// (backends/device_libraries.h). The functions return false where it has not, and the portable
// algorithms compute. What libraries compute has their rounding.
#pragma once

#include "library/on_device/device_work.h"
#include "primitives/primitives.h"

namespace unisono::library::vendor {

/// Whether a library is to factor matrices like these.
bool has_factors(DeviceWork& work, const View& in);
bool multiply(DeviceWork& work, const View& a, const View& b, const View& out);
bool solve(DeviceWork& work, Views in, Views out);
bool inv(DeviceWork& work, Views in, Views out);
bool det(DeviceWork& work, Views in, Views out);
bool cholesky(DeviceWork& work, bool upper, Views in, Views out);
bool qr(DeviceWork& work, primitives::QrMode mode, Views in, Views out);
bool svd(DeviceWork& work, primitives::SvdMode mode, Views in, Views out);
bool eigh(DeviceWork& work, const primitives::SymmetricEigen& eigen, Views in, Views out);
/// What a library's generator draws; fails where it does not work.
void draw(DeviceWork& work, const primitives::Drawing& drawing, const DeviceVector& to);
bool transform(DeviceWork& work, const primitives::FftStep& step, Views in, Views out);

}  // namespace unisono::library::vendor
