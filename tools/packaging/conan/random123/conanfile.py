"""Conan 2 recipe of Random123's headers."""

import pathlib

from conan import ConanFile
from conan.tools.files import copy, get

required_conan_version = ">=2.0"


class Random123Recipe(ConanFile):
    name = "random123"
    version = "1.14.0"
    description = "Counter-based random number generators"
    license = "BSD-3-Clause"
    homepage = "https://github.com/DEShawResearch/random123"
    package_type = "header-library"

    def source(self):
        archive = f"{self.homepage}/archive/refs/tags/v{self.version}.tar.gz"
        get(self, archive, sha256="effafd8656b18030b2a5b995cd3650c51a7c45052e6e1c21e48b9fa7a59d926e", strip_root=True)

    def package(self):
        package = pathlib.Path(self.package_folder)
        copy(self, "LICENSE", self.source_folder, package / "licenses")
        copy(self, "Random123/*", pathlib.Path(self.source_folder) / "include", package / "include")

    def package_id(self):
        self.info.clear()

    def package_info(self):
        self.cpp_info.bindirs = self.cpp_info.libdirs = []
