"""Conan 2 recipe of the headers. It builds from the checkout that it lies in:

    conan create tools/packaging/conan/random123
    conan create tools/packaging/conan --build=missing -s compiler.cppstd=20

Conan Center has no Random123, so the first command makes that package.
"""

import pathlib
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy

required_conan_version = ">=2.0"


class NetuitRecipe(ConanFile):
    name = "netuit"
    description = "Best-effort messaging between threads and processes, and graphs placed over them"
    license = "MIT"
    topics = ("best-effort", "messaging", "graphs", "mpi", "simulation", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {name: [True, False] for name in ("with_netuit", "with_mpi", "with_zlib", "with_json", "with_cereal")}
    default_options = {"with_netuit": True, "with_mpi": False, "with_zlib": True, "with_json": False, "with_cereal": False}

    def set_version(self):
        text = (_checkout(self) / "CMakeLists.txt").read_text(encoding="utf-8")
        self.version = re.search(r"project\(netuit VERSION ([\d.]+)", text)[1]

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "include/*", "tools/cmake/*"):
            copy(self, pattern, _checkout(self), self.export_sources_folder)

    def configure(self):
        if not self.options.with_netuit:
            self.options.rm_safe("with_zlib")

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        # With MPI, the recipe takes the MPI of the machine, because it must match the launcher there.
        if self.options.with_netuit:
            self.requires("metis/5.2.1", transitive_headers=True, transitive_libs=True)
            self.requires("random123/1.14.0", transitive_headers=True)
        if self.options.get_safe("with_zlib"):
            self.requires("zlib/[>=1.2.11 <2]", transitive_headers=True, transitive_libs=True)
        if self.options.with_json:
            self.requires("nlohmann_json/[>=3.10 <4]", transitive_headers=True)
        if self.options.with_cereal:
            self.requires("cereal/[>=1.3 <2]", transitive_headers=True)

    def validate(self):
        check_min_cppstd(self, 20)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["UIT_WITH_NETUIT"] = bool(self.options.with_netuit)
        toolchain.cache_variables["UIT_WITH_MPI"] = bool(self.options.with_mpi)
        toolchain.cache_variables["CMAKE_DISABLE_FIND_PACKAGE_ZLIB"] = not self.options.get_safe("with_zlib")
        for option in ("UIT_TESTS", "UIT_DEMOS"):
            toolchain.cache_variables[option] = False
        toolchain.cache_variables["UIT_INSTALL"] = True
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        CMake(self).configure()

    def package(self):
        copy(self, "LICENSE", self.source_folder, pathlib.Path(self.package_folder) / "licenses")
        CMake(self).install()

    def package_id(self):
        self.info.settings.clear()

    def package_info(self):
        # find_package(netuit) reads the files that CMake has installed; the components are for other build systems.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.bindirs = self.cpp_info.libdirs = []
        self.cpp_info.builddirs = ["share/cmake/netuit"]
        uit = self.cpp_info.components["uit"]
        uit.set_property("pkg_config_name", "uit")
        uit.bindirs = uit.libdirs = []
        uit.builddirs = ["share/cmake/netuit"]
        uit.defines = [f"UIT_WITH_MPI={int(bool(self.options.with_mpi))}"]
        uit.system_libs = ["pthread"] if self.settings.os in ("Linux", "FreeBSD") else []
        uit.requires = ["cereal::cereal"] if self.options.with_cereal else []
        if self.options.with_netuit:
            netuit = self.cpp_info.components["netuit"]
            netuit.set_property("pkg_config_name", "netuit")
            netuit.bindirs = netuit.libdirs = []
            netuit.defines = [f"UIT_WITH_ZLIB={int(bool(self.options.get_safe('with_zlib')))}"]
            netuit.requires = ["uit", "metis::metis", "random123::random123"]
            netuit.requires += ["zlib::zlib"] if self.options.get_safe("with_zlib") else []
            netuit.requires += ["nlohmann_json::nlohmann_json"] if self.options.with_json else []


def _checkout(recipe):
    return pathlib.Path(recipe.recipe_folder).resolve().parents[2]
