// Docstrings of the array's methods: signature, as inspect reads it, parameters, errors, an
// example.
#pragma once

namespace unisono::python::docs {

inline constexpr char astype[] =
    R"doc(astype($self, /, dtype, order='K', casting='unsafe', subok=True, copy=True)
--

Copy converted to another dtype; docs/ir.md says how.

Parameters
----------
dtype : dtype
order : {'K', 'C', 'F', 'A'}
    Rows or columns are packed in memory: rows where it is not given.
casting : {'unsafe', 'same_kind', 'safe', 'equiv', 'no'}
    Which conversions are allowed.
copy : bool
    False: the array itself where it has the dtype.

Returns
-------
ndarray, of the array's shape

Raises
------
TypeError
    No dtype, or a conversion that the rule does not allow.

Examples
--------
>>> import unisono as un
>>> un.asarray([1.7, -1.7]).astype("int8").tolist()
[1, -1]
)doc";

inline constexpr char copy[] = R"doc(copy($self, /, order='C')
--

A packed copy on the same device.

Parameters
----------
order : {'C', 'F', 'A', 'K'}
    Which axis is packed: the last, or the first; 'A' and 'K' as the array is.

Examples
--------
>>> import unisono as un
>>> x = un.zeros(2)
>>> y = x.copy()
>>> y[0] = 1
>>> x.tolist()
[0.0, 0.0]
)doc";

inline constexpr char reshape[] = R"doc(reshape($self, /, *shape, order='C', copy=None)
--

The same elements in another shape: a view where strides allow it, else a copy.

Parameters
----------
*shape : int, or one tuple of them
    As many elements as the array has; one extent may be -1.
order : {'C', 'F', 'A'}
    Whether the last or the first index runs fastest.
copy : bool, optional
    True: always copy. False: never.

Raises
------
ValueError
    Another number of elements, or no view with ``copy=False``.

Examples
--------
>>> import unisono as un
>>> un.arange(6).reshape(2, -1).tolist()
[[0, 1, 2], [3, 4, 5]]
)doc";

inline constexpr char transpose[] = R"doc(transpose($self, /, *axes)
--

A view with permuted axes.

Parameters
----------
*axes : int, or one tuple of them
    Reversed where none are given.

Raises
------
ValueError
    If `axes` is not a permutation of the axes.

Examples
--------
>>> import unisono as un
>>> un.zeros((2, 3, 4)).transpose(1, 0, 2).shape
(3, 2, 4)
)doc";

inline constexpr char ravel[] = R"doc(ravel($self, /, order='C')
--

All elements in one axis: a view of an array that is packed already, else a copy.

Parameters
----------
order : {'C', 'F', 'A', 'K'}
    Whether the last or the first index runs fastest; 'K': as they lie in memory.

Examples
--------
>>> import unisono as un
>>> un.asarray([[1, 2], [3, 4]]).ravel("F").tolist()
[1, 3, 2, 4]
)doc";

inline constexpr char flatten[] = R"doc(flatten($self, /, order='C')
--

All elements in one axis, as a copy.

Parameters
----------
order : {'C', 'F', 'A', 'K'}
    Whether the last or the first index runs fastest; 'K': as they lie in memory.

Examples
--------
>>> import unisono as un
>>> un.asarray([[1, 2], [3, 4]]).flatten().tolist()
[1, 2, 3, 4]
)doc";

inline constexpr char fill[] = R"doc(fill($self, value, /)
--

Sets all elements to a number.

Raises
------
TypeError
    The value is no number.

Examples
--------
>>> import unisono as un
>>> x = un.empty(3)
>>> x.fill(2)
>>> x.tolist()
[2.0, 2.0, 2.0]
)doc";

inline constexpr char to_device[] = R"doc(to_device($self, device, /, *, stream=None)
--

A copy on a device; the array itself if it lives there.

Parameters
----------
device : str or Device

Raises
------
DeviceError
    There is no such device.

Examples
--------
>>> import unisono as un
>>> un.ones(2).to_device("cpu").device.name
'cpu'
)doc";

inline constexpr char item[] = R"doc(item($self, /, *args)
--

An element as a Python number.

Parameters
----------
*args : int
    Its index on each axis, or one index in row-major order; none for an array of one element.

Raises
------
ValueError, IndexError
    More than one element, or an index beyond the shape.

Examples
--------
>>> import unisono as un
>>> un.asarray([[1, 2], [3, 4]]).item(1, 0)
3
)doc";

inline constexpr char tolist[] = R"doc(tolist($self, /)
--

Nested lists of Python numbers; a number for a value.

Examples
--------
>>> import unisono as un
>>> un.eye(2).tolist()
[[1.0, 0.0], [0.0, 1.0]]
)doc";

inline constexpr char tobytes[] = R"doc(tobytes($self, /, order='C')
--

The elements as bytes.

Parameters
----------
order : {'C', 'F', 'A'}
    Whether the last or the first index runs fastest.

Examples
--------
>>> import unisono as un
>>> un.asarray([1, 2], dtype="int16").tobytes()
b'\x01\x00\x02\x00'
)doc";

}  // namespace unisono::python::docs
