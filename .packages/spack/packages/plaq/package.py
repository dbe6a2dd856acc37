"""Spack recipe of plaq. The sources are those of the repository that this file lies in."""

from pathlib import Path

from spack.package import *


class Plaq(CMakePackage, CudaPackage):
    """Hybrid Monte Carlo for lattice QCD, with measurements, on CPUs and NVIDIA GPUs."""

    git = Path(__file__).resolve().parents[4].as_uri()

    license("BSD-3-Clause")

    version("main", branch="main")

    variant(
        "march",
        default="native",
        values=str,
        multi=False,
        description="instruction set of the CPU, as gcc's -march names it",
    )
    variant("nccl", default=False, when="+cuda", description="messages between GPUs by NCCL")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("mpi")
    depends_on("hdf5+mpi")
    depends_on("gsl")
    depends_on("inih")
    depends_on("cuda@12.4:", when="+cuda")
    depends_on("nccl", when="+nccl")

    generator("ninja")

    # _Float128 and its functions, __builtin_shuffle, __builtin_convertvector
    requires("%gcc@9:", msg="plaq needs gcc 9 or later")
    conflicts("cuda_arch=none", when="+cuda", msg="name the GPUs, as in cuda_arch=90")

    def cmake_args(self):
        args = [
            self.define("PLAQ_ARCH", self.spec.variants["march"].value),
            self.define("PLAQ_CUDA", "ON" if self.spec.satisfies("+cuda") else "OFF"),
            self.define("PLAQ_NCCL", "ON" if self.spec.satisfies("+nccl") else "OFF"),
        ]
        if self.spec.satisfies("+cuda"):
            args.append(self.define("PLAQ_CUDA_ARCHITECTURES", self.spec.variants["cuda_arch"].value))
        return args

    @property
    def build_targets(self):
        return ["plaq"]

    def install(self, spec, prefix):
        # The target `install` would build all tests first.
        with working_dir(self.build_directory):
            cmake("--install", ".")
