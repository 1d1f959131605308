"""``RawKernel`` and ``RawModule``: kernels of C text with CuPy's calls, on every device."""

from __future__ import annotations

import itertools
import os
import re
import warnings
import weakref

from .. import _engine
from .._jit import unfiled
from ..cuda import Stream, devices
from ..cuda.launches import DriverError, kernel_of, ranges, sizes
from .arguments import Declared, arguments_of, place_of
from .syntax import expressions, tags
from .syntax.lexer import Source, tokens
from .syntax.nodes import CType, Function
from .syntax.parser import Parser
from .translation import groups
from .translation.functions import Translation, flattener, stub
from .translation.trees import unused

_numbers = itertools.count()


class NotFoundError(DriverError, _engine.CompileError):
    """There is no such file, or no such kernel in it."""


_most_launches = 1000


class RawModule:
    """Kernels of one text of CUDA C or OpenCL C.

    Parameters
    ----------
    code : str
        The text. Kernels are marked by ``__global__`` (or ``__kernel``).
    path : str, optional
        A file with the text, instead of `code`.
    options : tuple of str
        ``-DNAME`` and ``-DNAME=value`` define macros, ``-Ifolder`` says where files lie that the text includes; others are
        without effect.
    backend, translate_cucomplex, enable_cooperative_groups : optional
        CuPy's, without effect; ``backend="nvcc"`` takes no `name_expressions`, as there.
    name_expressions : sequence of str, optional
        Instances of kernel templates, as ``"scale<float>"``.
    jitify : bool, optional
        True: files that are included and not found are left out. Deprecated, as in CuPy.

    Raises
    ------
    TypeError
        `code` is no text.
    ValueError
        The file is no text, or `name_expressions` are given for nvcc.
    CompileError
        At the first use: the text has an error or a part of C that is not translated; with its line.

    Notes
    -----
    The text is translated to the tree of a `unisono.kernel`, so that it runs on the CPU, in the interpreter (which
    finds races), on OpenCL and CUDA devices, with equal results. Numbers, arrays, pointers into arrays, control flow,
    ``__device__`` functions, templates, ``__shared__`` arrays, atomics, mathematics, vector types, structs, and warp
    functions, in which whole blocks meet, unions and cooperative groups are there (a kernel of ``this_grid()`` runs
    on devices as several, cut where the grid meets), printf and assert. Indices are tested. A pointer to a struct
    takes a structured array (``align=True``), or bytes; one to a vector type also an array of its numbers.

    Examples
    --------
    >>> import numpy as np, unisono as un
    >>> module = un.RawModule(
    ...     code=r'''
    ... extern "C" __global__ void twice(float* x, int n) {
    ...     int i = blockDim.x * blockIdx.x + threadIdx.x;
    ...     if (i < n) x[i] *= 2;
    ... }'''
    ... )
    >>> x = un.arange(5, dtype=un.float32)
    >>> module.get_function("twice")((2,), (4,), (x, 5))
    >>> x
    array([0., 2., 4., 6., 8.], dtype=float32)
    """

    def __init__(
        self, code=None, *, path=None, options=(), backend="nvrtc", translate_cucomplex=False,
        enable_cooperative_groups=False, name_expressions=None, jitify=None,
    ):  # fmt: skip
        warn_of_jitify(jitify)
        if (code is None) == (path is None):
            raise TypeError(
                "RawModule: give either code= or path=; got both or none; give one of them"
            )
        if name_expressions and backend == "nvcc":
            raise ValueError(
                "RawModule: name_expressions are for nvrtc; got backend='nvcc'; leave backend out"
            )
        if path is not None:
            code = _text_of_file(path)
        if not isinstance(code, str):
            raise TypeError(
                f"RawModule: code is text; got {type(code).__name__}; give the text of the kernels"
            )
        self.code, self.options = code, tuple(options)
        self.name_expressions = tuple(name_expressions or ())
        self.file_path, self.backend = path, backend
        self.enable_cooperative_groups = bool(enable_cooperative_groups)
        self._skips_missing = bool(jitify)
        self._name = path or f"kernels_{next(_numbers)}.cu"
        self._parser, self._kernels, self._globals, self._textures = None, {}, {}, {}

    def _parsed(self):
        if self._parser is None:
            source = Source(self.code, self._name)
            macros = [o[2:] for o in self.options if o.startswith("-D")]
            read = tokens(self.code, source, macros, self._folders(), self._skips_missing)
            parser = Parser(read, source)
            parser.parse()
            unfiled.keep(self._name, "\n".join(source.lines) + "\n")
            weakref.finalize(self, unfiled.forget, self._name)
            self._parser = parser
        return self._parser

    def _folders(self):
        """Where files lie that the text includes: its own folder, and those of the options."""
        found = [os.path.dirname(self.file_path)] if self.file_path else []
        follows = False  # -I folder, as two options
        for option in self.options:
            if follows or option.startswith(("-I", "--include-path=")):
                name = (
                    option if follows else option.removeprefix("--include-path=").removeprefix("-I")
                )
                found += [name] if name else []
                follows = not name
        return found

    def compile(self, log_stream=None):
        """Translate the text now.

        Parameters
        ----------
        log_stream : text file, optional
            Gets warnings, and the message of an error, which is raised, too.
        """
        try:
            parser = self._parsed()
            for name in [n for n, f in parser.unit.functions.items() if f.is_kernel]:
                self.get_function(name)._translated(0)
            for name in self.name_expressions:
                self.get_function(name)._translated(0)
            self._warn(log_stream)
        except _engine.CompileError as error:
            if log_stream is not None:
                log_stream.write(str(error))
            raise

    def _warn(self, log_stream):
        """Write what is odd in the text, and no error."""
        if log_stream is None:
            return
        for f in self._parsed().unit.functions.values():
            for name, place in unused(f.body):
                log_stream.write(
                    f'{self._name}({place.line}): warning: variable "{name}" was declared but never referenced\n'
                )

    def get_function(self, name):
        """A kernel by its name, or an instance of a template.

        Parameters
        ----------
        name : str

        Returns
        -------
        RawKernel

        Raises
        ------
        CompileError
            If the text has an error, or no such kernel, or `name_expressions` no such instance.
        """
        name = _plain_name(name)
        instances = [_plain_name(n) for n in self.name_expressions]
        if "<" in name and name not in instances:
            raise NotFoundError(
                f"RawModule: '{name}' is no instance that was asked for; got {instances}; give name_expressions=['{name}'] "
                f"(CUDA_ERROR_NOT_FOUND: named symbol not found)"
            )
        if name not in self._kernels:
            self._kernels[name] = RawKernel._of(self, name)
        return self._kernels[name]

    def get_global(self, name):
        """The array of a ``__device__`` or ``__constant__`` variable of the text, on the current device.

        Parameters
        ----------
        name : str

        Returns
        -------
        unisono.ndarray
            One-dimensional; kernels see what is written to it.

        Raises
        ------
        ValueError
            If there is no such variable.
        """
        found = self._variable(name)[0]
        dtype = found.record.dtypes[0] if found.record else found.base
        if found.record and len(found.record.dtypes) > 1:
            dtype = "uint8"
        return self._global(name, devices.current_device().name, dtype)

    def _variable(self, name):
        found = self._parsed().unit.variables.get(name)
        if found is None:
            raise ValueError(
                f"get_global: the text has no variable '{name}'; got {sorted(self._parsed().unit.variables)}; "
                f"write __device__ in front of it"
            )
        return found

    def _texture_reference(self, name):
        """What the text declares as ``texture<...> name;``, to bind memory to."""
        from ..cuda._textures import TextureReference

        declared = self._parsed().unit.textures
        if name not in declared:
            raise ValueError(
                f"the text has no texture '{name}'; got {sorted(declared)}; declare it, as "
                f"texture<float, 2> {name};"
            )
        if name not in self._textures:
            self._textures[name] = TextureReference(name, declared[name])
        return self._textures[name]

    def _global(self, name, device, dtype):
        """The variable's memory as a packed array of a dtype."""
        if name in self._parsed().unit.textures:
            return self._texture_reference(name).memory(device)
        made = self._globals.get((name, device))
        if made is None:
            import unisono as un

            made = self._globals[name, device] = un.array(self._initial(name), device=device)
        if made.dtype.name == dtype:
            return made
        view = self._globals.get((name, device, dtype))
        if view is None:
            view = self._globals[name, device, dtype] = made.view(dtype)
        return view

    def _initial(self, name):
        import numpy as np

        from .translation.declarations import extent
        from .translation.functions import Body
        from .translation.records import count_of
        from .translation.trees import flatten_list

        ctype, value, place = self._variable(name)
        source = self._parser.source
        reader = Body(Translation(self._parser, source), _NOTHING)
        extents = tuple(extent(reader, e, place) for e in ctype.extents)
        if ctype.record:
            return self._initial_records(reader, ctype, extents, value, place)
        flat = []
        if value is not None:
            flatten_list(value, extents, flat)
        made = np.zeros(count_of(extents), ctype.base)
        for k, item in enumerate(flat):
            made[k] = 0 if item is None else _constant(reader, item, name)
        return made

    def _initial_records(self, reader, ctype, extents, value, place):
        import numpy as np

        from .translation.records import count_of, listed
        from .translation.trees import flatten_list

        record, count, flat = ctype.record, count_of(extents), []
        memory = np.zeros(count * record.size, np.uint8)
        if value is not None:
            flatten_list(value, extents, flat)
        for k, item in enumerate(flat):
            if item is None:
                continue
            if item[0] != "list":
                raise reader.error(
                    item[1], "the first value is not a list", "write numbers in braces"
                )
            row = memory[k * record.size : (k + 1) * record.size]
            parts = listed(reader, record, item, place).parts
            for v, (dtype, offset) in zip(parts, record.leaves, strict=True):
                one = _constant(reader, ("value", item[1], v), ctype.base)
                row[offset:].view(np.uint8)[: np.dtype(dtype).itemsize] = np.frombuffer(
                    np.array(one, dtype).tobytes(), np.uint8
                )
        return memory if len(record.dtypes) > 1 else memory.view(record.dtypes[0])

    def __reduce__(self):
        options = {
            "backend": self.backend,
            "enable_cooperative_groups": self.enable_cooperative_groups,
        }
        folders = [f"-I{folder}" for folder in self._folders()[: bool(self.file_path)]]
        given = self.code, (*self.options, *folders), self.name_expressions, options
        return _module_of, (*given, self._skips_missing)

    def __repr__(self):
        return f"<RawModule {self._name}>"


class RawKernel(_engine._RawLauncher):
    """A kernel of CUDA C or OpenCL C text, called as ``kernel(grid, block, args, shared_mem=0)``.

    Parameters
    ----------
    code : str
        The text, as of `RawModule`.
    name : str
        Of the kernel.
    options : tuple of str
    backend, translate_cucomplex, enable_cooperative_groups, jitify : optional
        As of `RawModule`.

    Attributes
    ----------
    num_regs : int
        Registers of a work-item: of the machine code on the CPU and on CUDA devices, 0 where the device does not tell.
    shared_size_bytes, local_size_bytes, const_size_bytes : int
        Of the kernel's ``__shared__`` arrays, of its own arrays, and of the ``__constant__`` variables that it uses.
    binary_version, ptx_version : int
        Of CUDA devices; else 0.

    Raises
    ------
    CompileError
        At the first call: an error of the text, with its line.
    TypeError, ValueError
        At a call: arguments whose number or types are not those that the text declares, or impossible sizes.

    Notes
    -----
    It runs on the device of its arrays; arrays of the host on the current device (`unisono.cuda`), from which they are
    copied back. Arrays are contiguous.

    Examples
    --------
    >>> import unisono as un
    >>> add = un.RawKernel(
    ...     r'''
    ... extern "C" __global__ void add(const float* x, const float* y, float* z) {
    ...     int i = blockDim.x * blockIdx.x + threadIdx.x;
    ...     z[i] = x[i] + y[i];
    ... }''',
    ...     "add",
    ... )
    >>> x = un.ones(8, un.float32)
    >>> z = un.zeros_like(x)
    >>> add((2,), (4,), (x, x, z))
    >>> z.tolist()[0]
    2.0
    """

    def __init__(
        self, code, name, options=(), backend="nvrtc", translate_cucomplex=False, *,
        enable_cooperative_groups=False, jitify=None,
    ):  # fmt: skip
        warn_of_jitify(jitify)
        module = RawModule(
            code=code, options=options, backend=backend,
            enable_cooperative_groups=enable_cooperative_groups,
        )  # fmt: skip
        module._skips_missing = bool(jitify)
        self._begin(module, _plain_name(name))

    @classmethod
    def _of(cls, module, name):
        made = cls.__new__(cls)
        made._begin(module, name)
        made._function()
        return made

    def _begin(self, module, name):
        self._module, self.name, self.__name__ = module, name, name
        self._made, self._launches, self._declared, self._found = {}, {}, None, None
        self.max_dynamic_shared_size_bytes, self.kernel = 0, self

    def __reduce__(self):
        return _kernel_of_module, (self._module, self.name, self.max_dynamic_shared_size_bytes)

    @property
    def attributes(self):
        """What CUDA tells of a kernel, by name: sizes in bytes, registers and limits on the current device."""
        names = (*_resources, "cache_mode_ca", "const_size_bytes", "max_dynamic_shared_size_bytes")
        names += ("max_threads_per_block", "preferred_shared_memory_carveout")
        return {name: getattr(self, name) for name in names}

    @property
    def max_threads_per_block(self):
        """Threads that a block has at most on the current device."""
        return self._told("most_items") or devices.current_device().max_work_group_size

    @property
    def const_size_bytes(self):
        """Bytes of the ``__constant__`` variables that the kernel uses."""
        hidden = self._translated(0)[-1]
        names = {what[0] for kind, *what in hidden if kind != "block"}
        variables = self._module._parsed().unit.variables
        constant = [n for n in names if n in variables and variables[n][0].space == "constant"]
        return sum(self._module._initial(n).nbytes for n in constant)

    def _told(self, name):
        """What the kernel takes on the current device."""
        kernel, _ = self._kernel(devices.current_device().name, 0)
        if kernel.resources is None:
            kernel._compile_signatures()
            kernel.resources = kernel._remarks()[0]["resources"]
        return kernel.resources[name]

    @property
    def code(self):
        """The text."""
        return self._module.code

    @property
    def options(self):
        """The options."""
        return self._module.options

    @property
    def backend(self):
        """CuPy's name of the compiler that was asked for."""
        return self._module.backend

    @property
    def enable_cooperative_groups(self):
        """Whether it was asked for."""
        return self._module.enable_cooperative_groups

    def compile(self, log_stream=None):
        """Translate the text now.

        Parameters
        ----------
        log_stream : text file, optional
            Gets warnings, and the message of an error, which is raised, too.
        """
        try:
            self._translated(0)
            self._module._warn(log_stream)
        except _engine.CompileError as error:
            if log_stream is not None:
                log_stream.write(str(error))
            raise

    def _function(self):
        if self._found is not None:
            return self._found
        parser = self._module._parsed()
        base, _, arguments = self.name.partition("<")
        if base in parser.unit.templates:
            self._found = self._instance(parser, base, arguments)
        else:
            self._found = parser.unit.functions.get(base)
        if self._found is None or not self._found.is_kernel:
            kernels = [n for n, f in parser.unit.functions.items() if f.is_kernel]
            raise NotFoundError(
                f"RawKernel: the text has no kernel '{self.name}'; got {kernels + list(parser.unit.templates)}; "
                f"mark it with __global__, and name its template parameters (CUDA_ERROR_NOT_FOUND: named symbol not "
                f"found)"
            )
        return self._found

    def _instance(self, parser, base, arguments):
        text = Source(f"<{arguments}", self.name)
        inner = Parser(tokens(text.lines[0], text), text)
        inner.unit, inner.is_cuda = parser.unit, parser.is_cuda  # types and constants of the text
        values = []
        for e in expressions.template_arguments(inner):
            is_truth = not isinstance(e, CType) and e[0] == "number" and e[3] == "bool"
            if is_truth or isinstance(e, CType):
                values.append(bool(e[2]) if is_truth else e)
            else:
                values.append(tags.whole(inner, e))
        parameters = parser.unit.templates[base].parameters
        wanted = len(parameters)
        if not sum(d is None for *_, d in parameters) <= len(values) <= wanted:
            raise _engine.CompileError(
                f"RawKernel: the template '{base}' has {wanted} parameters; got {len(values)}; name all of them, as in "
                f"{base}<float>"
            )
        try:
            return parser.instance(base, values)
        except _engine.CompileError as error:
            raise _engine.CompileError(
                f"Error in parsing name expression '{self.name}': {error}"
            ) from error

    def _translated(self, shared):
        found = self._made.get(shared)
        if found is not None:
            return found
        function = self._function()
        parser = self._module._parsed()
        source = parser.source
        made = Translation(parser, source, shared).kernel(function)
        python = stub(made, function, source)
        specs = [spec for c, _, _ in function.parameters for spec in _specs(c)]
        for kind, *_, what in made.hidden:
            specs.append(("scalar", "int64") if kind == "block" else ("array", what, 1, "C", False))
        from .._jit.signatures import signatures_of

        text = ", ".join(_spelled(t) for t in specs)
        options = {
            "signatures": signatures_of(f"void({text})", "RawKernel"),
            "counts_from_end": False,  # in C no index does
        }

        def flatten(given):
            return flattener(python, made, function, source, True, given)

        kernels = {}
        self._declared = [
            Declared(name, c.base, c.is_pointer, c.record, c.is_const)
            for c, name, _ in function.parameters
        ]
        if not made.hidden and all(d.record is None for d in self._declared):
            self._take_types(tuple((d.base, d.is_pointer) for d in self._declared))
        self._made[shared] = found = (kernels, python, options, flatten, made.hidden)
        return found

    def _kernel(self, device, shared):
        kernels, python, options, flatten, hidden = self._translated(shared)
        k = kernels.get(device)
        if k is None:
            k = kernels[device] = kernel_of(python, device, options, flatten)
            k.launches = {}  # global and local sizes by grid and block
            k.resources = None  # what its code takes, once it was asked for
            k.spans_the_grid = groups.spans_the_grid(self._function())
        return k, hidden

    def __call__(self, grid, block, args, *, shared_mem=0, stream=None, **ignored):
        """Launch the kernel.

        Parameters
        ----------
        grid, block : int or tuple of int
            Blocks, and threads of a block, along up to three axes.
        args : tuple
            Arrays for pointers, numbers for others.
        shared_mem : int
            Bytes of the ``extern __shared__`` array.
        stream : unisono.cuda.Stream, optional
        """
        # Calls like one that was remembered do not come here (_RawLauncher).
        if not isinstance(args, (tuple, list)):
            raise TypeError(
                f"{self.name}: args is a tuple; got {type(args).__name__}; write {self.name}(grid, block, (x, y))"
            )
        device = place_of(args)
        found = self._launches.get((device, shared_mem))
        if found is None:
            found = self._launches[device, shared_mem] = self._kernel(device, shared_mem)
        k, hidden = found
        try:
            over, local, threads = k.launches[grid, block]
        except (KeyError, TypeError):
            threads = sizes(self.name, block, "threads")
            over, local = ranges(k.axes, sizes(self.name, grid, "blocks"), threads)
            local = over if k.spans_the_grid else local
            if isinstance(grid, (int, tuple)) and isinstance(block, (int, tuple)):
                if len(k.launches) < _most_launches:
                    k.launches[grid, block] = over, local, threads
        back = []
        given = arguments_of(self.name, self._declared, args, device, back)
        if (hidden or back) and device != "cpu":
            given = [_moved(a, device, back) for a in given]
        for kind, *what in hidden:
            given.append(
                threads[what[0]]
                if kind == "block"
                else self._module._global(what[0], device, what[1])
            )
        if isinstance(stream, Stream):
            with stream.statements():
                k._launch(over, local, tuple(given), {})
        else:
            k._launch(over, local, tuple(given), {})
        if not hidden:
            self._remember(grid, block, args, shared_mem, k, over, local)
        for there, here in back:
            here[...] = there.to_device("cpu")


RawKernel._call_quickly()
_resources = {
    "binary_version": "code_version", "local_size_bytes": "local_bytes", "num_regs": "registers", "ptx_version": "text_version",
    "shared_size_bytes": "shared_bytes",
}  # fmt: skip
for _name, _told in _resources.items():
    setattr(RawKernel, _name, property(lambda self, told=_told: self._told(told)))
RawKernel.cache_mode_ca, RawKernel.preferred_shared_memory_carveout = 0, -1  # no wish
_NOTHING = Function("", None, CType("void"), [], ("block", None, []), False, 0)


def warn_of_jitify(jitify):
    """CuPy's warning of an argument that it is about to drop."""
    if jitify is not None:
        what = (
            "jitify=True is deprecated: name the folders of what the text includes in the options"
            if jitify
            else "The jitify argument is deprecated. Avoid passing jitify=False: it is the default"
        )
        warnings.warn(what, DeprecationWarning, stacklevel=3)


def _moved(a, device, back):
    """An array of the host on the device where others are; `back` gets (copy, array)."""
    if not isinstance(a, _engine._Array) or a.device.name != "cpu":
        return a
    import unisono as un

    back.append((un.array(a, device=device), a))
    return back[-1][0]


def _constant(reader, item, name):
    known = reader.number(item[2][0] if item[0] == "list" else item).value
    if known is None:
        raise reader.error(
            item[1], f"the first value of '{name}' is not a constant", "write numbers"
        )
    return known


def _specs(c: CType):
    """The types of what is passed for a parameter: of a struct for each dtype, or each number."""
    if c.is_pointer:
        return [("array", d, 1, "C", False) for d in (c.record.dtypes if c.record else (c.base,))]
    return [("scalar", d) for d, _ in c.record.leaves] if c.record else [("scalar", c.base)]


def _module_of(code, options, name_expressions, others, skips_missing=False):
    made = RawModule(code=code, options=options, name_expressions=name_expressions, **others)
    made._skips_missing = skips_missing
    return made


def _text_of_file(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError as error:
        raise NotFoundError(f"RawModule: {error} (CUDA_ERROR_FILE_NOT_FOUND)") from error
    except UnicodeDecodeError as error:
        raise ValueError(
            f"RawModule: {path} is not text; got other bytes; expected CUDA C or OpenCL C, which is translated for each "
            f"device: give the source of the kernels"
        ) from error


def _kernel_of_module(module, name, shared):
    made = RawKernel.__new__(RawKernel)
    made._begin(module, name)
    made.max_dynamic_shared_size_bytes = shared
    return made


def _plain_name(name):
    """A kernel's name without the spaces that do not part words."""
    return re.sub(r"\s*([<>,*&])\s*", r"\1", name.strip())


def _spelled(spec):
    return spec[1] + ("[::1]" if spec[0] == "array" else "")
