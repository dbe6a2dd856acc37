#!/usr/bin/env bash
# Looks for what the build needs and installs, with apt-get, only what is missing (Debian 12, Ubuntu 24.04 or later).
# Without apt-get it lists what is missing and ends with status 1. CUDA is never installed: it is used when it is there.
set -euo pipefail

need_cmake=3.25

# ---- one line per need: name | Debian and Ubuntu | Fedora and EL (dnf) | spack ----
needs='compiler|build-essential|gcc gcc-c++ make|gcc
cmake|cmake|cmake|cmake
ninja|ninja-build|ninja-build|ninja
pkg-config|pkg-config|pkgconf-pkg-config|pkgconf
mpi|libopenmpi-dev openmpi-bin|openmpi-devel|openmpi
hdf5|libhdf5-openmpi-dev|hdf5-openmpi-devel|hdf5+mpi
hdf5-tools|hdf5-tools|hdf5|hdf5
inih|libinih-dev|inih-devel|inih
gsl|libgsl-dev|gsl-devel|gsl'

have() { command -v "$1" >/dev/null 2>&1; }

# A header that the preprocessor finds, with the flags given.
header() {
    local name=$1
    shift
    printf '#include <%s>\n' "$name" | "${CC:-cc}" "$@" -E -x c - >/dev/null 2>&1
}

cmake_version() { cmake --version 2>/dev/null | sed -n '1s/^cmake version \([0-9.]*\).*/\1/p'; }

at_least() { # version needed
    local lowest
    lowest=$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)
    [ -n "$1" ] && [ "$lowest" = "$2" ]
}

pkg_flags() { pkg-config --cflags "$1" 2>/dev/null || true; }

probe_compiler() { # the C library's headers too, and a C++ compiler, which nvcc asks for
    have "${CC:-cc}" && have "${CXX:-c++}" && have make && header stdio.h
}
probe_cmake() { have cmake && have ctest && at_least "$(cmake_version)" "$need_cmake"; }
probe_ninja() { have ninja || have ninja-build; }
probe_pkg_config() { have pkg-config; }
probe_mpi() { have mpicc && have mpiexec && printf '#include <mpi.h>\n' | mpicc -E -x c - >/dev/null 2>&1; }
# HDF5_ROOT and HDF5_DIR are read by CMake; a serial HDF5 will do where there is no apt-get to get a parallel one.
probe_hdf5() {
    have h5pcc || [ -n "${HDF5_ROOT:-}${HDF5_DIR:-}" ] || { ! have apt-get && have h5cc; }
}
probe_hdf5_tools() { have h5dump; } # for looking at results, and for tests
# shellcheck disable=SC2046 # flags are words
probe_inih() { header ini.h $(pkg_flags inih) || [ -n "${INIH_INCLUDE:-}" ]; }
# GSL_ROOT_DIR is read by CMake.
# shellcheck disable=SC2046
probe_gsl() { header gsl/gsl_eigen.h $(pkg_flags gsl) || [ -n "${GSL_ROOT_DIR:-}" ]; }

find_missing() { # prints the names of the needs not met
    local name
    while IFS='|' read -r name _; do
        "probe_${name//-/_}" || echo "$name"
    done <<<"$needs"
}

packages() { # column, then names: the packages, on one line
    local column=$1 name
    shift
    for name in "$@"; do
        awk -F'|' -v name="$name" -v column="$column" '$1 == name { print $column }' <<<"$needs"
    done | tr '\n' ' ' | sed 's/ $//'
}

explain_cmake() {
    case " $* " in
    *' cmake '*)
        if have cmake; then
            echo "  (cmake here is $(cmake_version), needed is $need_cmake or later: https://cmake.org/download, or pip install cmake)"
        fi
        ;;
    esac
}

mapfile -t missing < <(find_missing)
if [ ${#missing[@]} -eq 0 ]; then
    exit 0
fi

echo "set-up: missing: ${missing[*]}"
explain_cmake "${missing[@]}"

if ! have apt-get; then
    {
        echo "set-up: no apt-get here. Install these, or load their modules, and try again:"
        echo "  dnf install $(packages 3 "${missing[@]}")    (then: module load mpi/openmpi-x86_64)"
        echo "  spack install $(packages 4 "${missing[@]}")    (then: spack load of the same)"
    } >&2
    exit 1
fi

read -r -a install <<<"$(packages 2 "${missing[@]}")"
as_root=()
if [ "$(id -u)" -ne 0 ]; then
    if ! have sudo; then
        {
            echo "set-up: neither root nor sudo. As root, run"
            echo "  apt-get update && apt-get install -y ${install[*]}"
        } >&2
        exit 1
    fi
    as_root=(sudo)
fi

echo "set-up: apt-get install ${install[*]}"
apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o Dpkg::Use-Pty=0)
"${apt[@]}" update || echo "set-up: apt-get update failed; trying with the lists that are here" >&2
if ! "${apt[@]}" install -y --no-install-recommends "${install[@]}"; then
    echo "set-up: apt-get could not install ${install[*]}; its message is above" >&2
    exit 1
fi

hash -r
mapfile -t missing < <(find_missing)
if [ ${#missing[@]} -gt 0 ]; then
    echo "set-up: still missing after the installation: ${missing[*]}" >&2
    explain_cmake "${missing[@]}" >&2
    exit 1
fi
echo "set-up: done"
