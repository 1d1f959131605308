// Vectors of elements, as the compilers' extension has them.
#pragma once

namespace unisono {

/// So many bytes of elements. A type alone: functions of vectors stand where they are compiled for
/// one instruction set, since how a vector is passed depends on it.
template <class T, int bytes>
struct VectorOf {
    typedef T type __attribute__((vector_size(bytes)));
};
/// The same in memory, at any address.
template <class T, int bytes>
struct UnalignedVectorOf {
    typedef T type __attribute__((vector_size(bytes), may_alias, aligned(1)));
};

}  // namespace unisono
