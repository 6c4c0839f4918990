from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Netuit(CMakePackage):
    """Best-effort messaging between threads and processes, and graphs placed over them: C++20 headers."""

    git = Path(__file__).resolve().parents[7].as_uri()  # the checkout that this recipe lies in

    license("MIT")

    version("0.2.0", branch="main")

    variant("netuit", default=True, description="Simulations on graphs: the target netuit::netuit")
    variant("mpi", default=True, description="Conduits between processes")
    variant("zlib", default=True, when="+netuit", description="Reading graph files that gzip has compressed")
    variant("json", default=False, description="nlohmann/json, for checkpoints, netuit::Balanced and netuit::Resilient")
    variant("cereal", default=False, description="cereal, for messages of any type by uit::CerealCodec")

    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("mpi", when="+mpi")
    depends_on("metis", when="+netuit")
    depends_on("random123", when="+netuit")
    depends_on("zlib-api", when="+zlib")
    depends_on("nlohmann-json", when="+json")
    depends_on("cereal", when="+cereal")

    conflicts("%gcc@:10", msg="C++20 is needed: g++ 11 or later")
    conflicts("%clang@:15", msg="C++20 is needed: clang 16 or later")

    def cmake_args(self):
        return [
            self.define_from_variant("UIT_WITH_NETUIT", "netuit"),
            self.define_from_variant("UIT_WITH_MPI", "mpi"),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_ZLIB", not self.spec.satisfies("+zlib")),
            self.define("UIT_TESTS", False),
            self.define("UIT_DEMOS", False),
            self.define("UIT_INSTALL", True),
        ]
