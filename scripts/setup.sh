#!/usr/bin/env bash
# Sets up all that this tree needs: Debian packages, the environment .venv/, and unisono built into it.
#
# Safe to repeat: each step looks first whether its work is already done, and a second run takes well under a
# second. Sourced or called by ./run and ./test; call it alone to set up only.
#   scripts/setup.sh            everything
#   scripts/setup.sh --no-build system packages and environment only (then build with CMake as you like)
#   CMAKE_BUILD_PARALLEL_LEVEL=N limits the build's jobs
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '\033[1m==> %s\033[0m\n' "$*" >&2; }
die() { printf 'setup: %s\n' "$*" >&2; exit 1; }

packages=(
    # tools
    ca-certificates ccache clang-format clang-tidy cmake g++ git ninja-build
    python3 python3-dev python3-venv
    # libraries that a plugin links, or that the engine loads at run time
    libclang-19-dev llvm-19-dev libtbb-dev libhwy-dev libopenmpi-dev openmpi-bin
    ocl-icd-libopencl1 opencl-headers pocl-opencl-icd
    # tests
    libgtest-dev libmpich-dev mpich
)

install_system_packages() {
    command -v dpkg-query >/dev/null || {
        say "not a Debian system: please provide ${packages[*]}"
        return 0
    }
    local missing
    missing=$(comm -23 <(printf '%s\n' "${packages[@]}" | sort -u) \
        <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${packages[@]}" 2>/dev/null |
            sed -n 's/^installed //p' | sort -u))
    [ -z "$missing" ] && return 0
    local as_root=()
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo >/dev/null || die "these packages are missing and there is no sudo; install them as root:
    apt-get install" $missing
        as_root=(sudo)
    fi
    say "installing Debian packages:" $missing
    local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0)
    "${apt[@]}" update
    "${apt[@]}" install -y --no-install-recommends $missing >/dev/null
}

find_python() {
    local candidate
    for candidate in /usr/bin/python3 python3.13 python3.12 python3.11 python3; do
        if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    die "no Python 3.11 or later with venv was found"
}

# One line that changes when any of the given files changes, is added or removed.
fingerprint() {
    find "$@" -type f ! -name '*.pyc' -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c1-64
}

is_stamped() { [ -f ".venv/$1.stamp" ] && [ "$(<".venv/$1.stamp")" = "$2" ]; }
stamp() { echo "$2" >".venv/$1.stamp"; }

make_environment() {
    # A venv names its own absolute path: one that was moved or copied is made anew.
    if [ ! -x .venv/bin/python ] || [ "$(cat .venv/location 2>/dev/null)" != "$PWD" ]; then
        local python
        python=$(find_python)
        say "creating .venv with $python"
        rm -rf .venv
        "$python" -m venv .venv
        echo "$PWD" >.venv/location
    fi
    local wanted
    wanted=$(fingerprint pyproject.toml)
    is_stamped requirements "$wanted" && return 0
    say "installing Python packages that the build, the tests and the examples use"
    .venv/bin/python - >.venv/requirements.txt <<'PY'
import tomllib

with open("pyproject.toml", "rb") as f:
    config = tomllib.load(f)
project = config["project"]
extras = project["optional-dependencies"]
lines = config["build-system"]["requires"] + project["dependencies"] + extras["test"] + extras["examples"]
print("\n".join(lines))
PY
    .venv/bin/python -m pip install -q --disable-pip-version-check -r .venv/requirements.txt
    stamp requirements "$wanted"
}

install_unisono() {
    local wanted
    wanted=$(fingerprint CMakeLists.txt CMakePresets.json pyproject.toml README.md cmake engine bindings python \
        .venv/requirements.stamp)
    is_stamped unisono "$wanted" && return 0
    say "building unisono (build/release) and installing it into .venv"
    cmake --preset release -DPython_EXECUTABLE="$PWD/.venv/bin/python" >.venv/configure.log ||
        { cat .venv/configure.log >&2; exit 1; }
    cmake --build build/release --target unisono_package
    # The wheel is made in the same build tree, so that everything is compiled once.
    .venv/bin/python -m pip install -q --disable-pip-version-check --no-build-isolation --no-deps \
        --force-reinstall --config-settings build-dir=build/release \
        --config-settings cmake.define.UNISONO_BUILD_TESTS=ON \
        --config-settings build.targets=unisono_package .
    stamp unisono "$wanted"
}

install_system_packages
make_environment
[ "${1:-}" = --no-build ] || install_unisono
