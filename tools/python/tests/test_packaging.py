"""The recipes in tools/packaging say the same as CMakeLists.txt, and the package managers' own tools accept them."""

import ast
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[3]
PACKAGING = ROOT / "tools" / "packaging"
PORT = PACKAGING / "vcpkg" / "netuit"
CONAN = PACKAGING / "conan"
SPACK = PACKAGING / "spack" / "spack_repo" / "conduit"
CONDA = PACKAGING / "conda" / "recipe.yaml"
RECIPES = [PORT / "portfile.cmake", CONAN / "conanfile.py", SPACK / "packages" / "netuit" / "package.py", CONDA]

CMAKE = (ROOT / "CMakeLists.txt").read_text()
VERSION = re.search(r"project\(netuit VERSION ([\d.]+)", CMAKE)[1]
INSTALL = (ROOT / "tools" / "cmake" / "UitInstall.cmake").read_text()
#: What each manager calls a library that CMake looks for, or whose headers the library includes.
NAMES = {
    "vcpkg": {"METIS": "metis", "Random123": "random123", "ZLIB": "zlib", "MPI": "mpi", "nlohmann": "nlohmann-json", "cereal": "cereal"},
    "conan": {"METIS": "metis", "Random123": "random123", "ZLIB": "zlib", "nlohmann": "nlohmann_json", "cereal": "cereal"},  # MPI is the machine's
    "spack": {"METIS": "metis", "Random123": "random123", "ZLIB": "zlib-api", "MPI": "mpi", "nlohmann": "nlohmann-json", "cereal": "cereal"},
    "conda": {"METIS": "metis", "Random123": "random123", "ZLIB": "zlib", "MPI": "openmpi", "nlohmann": "nlohmann_json", "cereal": "cereal"},
}


def text_of(path):
    return path.read_text(encoding="utf-8")


def libraries():
    """What the library needs: the packages of CMake, and the folders of headers that need no package."""
    found = set(re.findall(r"find_package\((\w+)", CMAKE + text_of(ROOT / "tools" / "cmake" / "UitMpi.cmake"))) - {"Threads"}
    headers = "".join(text_of(path) for path in (ROOT / "include").rglob("*.[hi]pp"))
    folders = set(re.findall(r"#include <(\w+)/", headers)) - {"uit", "netuit", "sys", "simgrid"}
    return found | (folders - {"Random123"})


def names(manager):
    return {NAMES[manager][library] for library in libraries() if (manager, library) != ("conan", "MPI")}


def spack_calls():
    """The directives of the Spack package: (name, first argument, arguments by name)."""
    module = ast.parse(text_of(SPACK / "packages" / "netuit" / "package.py"))
    (package,) = [node for node in module.body if isinstance(node, ast.ClassDef)]
    calls = [node.value for node in package.body if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)]
    return [(call.func.id, call.args[0].value, {each.arg: ast.unparse(each.value) for each in call.keywords}) for call in calls]


def manifest():
    return json.loads(text_of(PORT / "vcpkg.json"))


def dependency_names(dependencies):
    return {each if isinstance(each, str) else each["name"] for each in dependencies}


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.name)
def test_a_recipe_names_only_options_that_cmake_has(path):
    known = set(re.findall(r"^option\((\w+)", CMAKE, re.MULTILINE))
    macros = set(re.findall(r"target_compile_definitions\(\w+ INTERFACE (\w+)=", CMAKE))
    named = set(re.findall(r"(?:-D|\b)(UIT_\w+)", text_of(path)))
    assert {"UIT_WITH_NETUIT", "UIT_WITH_MPI", "UIT_TESTS", "UIT_DEMOS", "UIT_INSTALL"} <= named <= known | macros
    if "CMAKE_DISABLE_FIND_PACKAGE_ZLIB" in text_of(path):
        assert "find_package(ZLIB QUIET)" in CMAKE  # otherwise the option would have no effect, or an error


def test_versions_are_that_of_cmake():
    assert manifest()["version"] == VERSION
    assert [argument for name, argument, _ in spack_calls() if name == "version"] == [VERSION]
    assert re.search(r'^  version: "(.*)"$', text_of(CONDA), re.MULTILINE)[1] == VERSION
    pattern = re.search(r're\.search\(r"(.*?)", text\)', text_of(CONAN / "conanfile.py"))[1]
    assert re.search(pattern, CMAKE)[1] == VERSION


def test_versions_of_the_python_package_the_citation_and_the_guide_are_that_of_cmake():
    project = text_of(ROOT / "tools" / "python" / "pyproject.toml")
    assert 'dynamic = ["version"]' in project
    source = ROOT / "tools" / "python" / re.search(r'provider = "scikit_build_core.metadata.regex"\ninput = "(.*)"', project)[1]
    assert re.findall(r'^__version__ = "(.*)"$', text_of(source), re.MULTILINE) == [VERSION]
    citation = text_of(ROOT / "CITATION.cff")
    assert re.findall(r"^version: (.*)$", citation, re.MULTILINE) == [VERSION]
    wanted = re.findall(r"find_package\(netuit ([\d.]+)", text_of(ROOT / "tools" / "guide" / "install.md"))
    assert set(wanted) == {VERSION.rpartition(".")[0]}
    if released := re.search(rf"^## {re.escape(VERSION)} \((.*)\)$", text_of(ROOT / "CHANGELOG.md"), re.MULTILINE):
        assert f'date-released: "{released[1]}"' in citation
    else:
        assert "date-released" not in citation


def test_the_python_package_says_what_an_index_shows():
    project = text_of(ROOT / "tools" / "python" / "pyproject.toml")
    readme = ROOT / "tools" / "python" / re.search(r'^readme = "(.*)"$', project, re.MULTILINE)[1]
    assert text_of(readme).startswith("# netuit\n")
    (authors,) = re.findall(r'^authors = \[\{name = "(.*)"\}\]$', project, re.MULTILINE)
    assert f"  - name: {authors}\n" in text_of(ROOT / "CITATION.cff")
    known = ast.literal_eval(re.search(r"^classifiers = (\[.*?^\])", project, re.MULTILINE | re.DOTALL)[1])
    assert "License :: OSI Approved :: MIT License" in known and known == sorted(known)
    trove = pytest.importorskip("trove_classifiers", reason="NOT TESTED: trove-classifiers is missing")
    assert set(known) <= trove.classifiers


def test_dependencies_are_those_that_cmake_and_the_headers_name():
    assert libraries() == {"METIS", "Random123", "ZLIB", "MPI", "nlohmann", "cereal"}
    port = manifest()
    of_features = [dependency_names(feature["dependencies"]) for feature in port["features"].values()]
    assert set().union(*of_features) - {"netuit"} == names("vcpkg")
    assert dependency_names(port["dependencies"]) == {"vcpkg-cmake", "vcpkg-cmake-config"}
    assert set(re.findall(r'self\.requires\("(\w+)/', text_of(CONAN / "conanfile.py"))) == names("conan")
    of_spack = {argument.partition("@")[0] for name, argument, _ in spack_calls() if name == "depends_on"}
    assert of_spack - {"cxx", "cmake"} == names("spack")
    netuit = text_of(CONDA).split("name: netuit\n")[1]
    run = re.search(r"      run:\n(.*?)    tests:", netuit, re.DOTALL)[1]
    assert set(re.findall(r'- (?:\$\{\{ pin_subpackage\(")?([a-z]\w+)', run)) == names("conda")


def test_spack_variants_are_used_and_their_conditions_name_variants():
    variants = {argument for name, argument, _ in spack_calls() if name == "variant"}
    conditions = {words["when"].strip("'\"+") for _, _, words in spack_calls() if "when" in words}
    assert conditions <= variants
    assert set(re.findall(r'define_from_variant\("\w+", "(\w+)"\)', text_of(RECIPES[2]))) <= variants


def test_the_spack_repository_has_the_layout_of_its_namespace():
    """From package API 2.0 on, the folder is spack_repo/NAMESPACE."""
    assert f"namespace: {SPACK.name}\n" in text_of(SPACK / "repo.yaml") and SPACK.parent.name == "spack_repo"
    (parents,) = re.findall(r"parents\[(\d+)\]", text_of(RECIPES[2]))
    assert RECIPES[2].resolve().parents[int(parents)] == ROOT.resolve()


def test_components_and_folders_are_those_that_cmake_installs():
    components = {"uit", *re.findall(r"list\(APPEND uit_components (\w+)\)", INSTALL)}
    assert components == {"uit", "netuit"}
    recipe = text_of(CONAN / "conanfile.py")
    assert set(re.findall(r'components\["(\w+)"\]', recipe)) == components
    assert '"${CMAKE_INSTALL_DATADIR}/cmake/netuit"' in INSTALL
    assert "share/cmake/netuit" in recipe and "CONFIG_PATH share/cmake/netuit" in text_of(PORT / "portfile.cmake")
    assert set(re.findall(r"netuit::(\w+)", text_of(CONAN / "test_package" / "CMakeLists.txt"))) == components
    for path in re.findall(r"- (include/\w+/\w+\.hpp)", text_of(CONDA)):
        assert (ROOT / path).exists()


def test_the_licence_is_named_and_shipped():
    assert text_of(ROOT / "LICENSE").startswith("MIT License")
    assert manifest()["license"] == "MIT" and "LICENSE" in text_of(PORT / "portfile.cmake")
    assert 'license = "MIT"' in text_of(CONAN / "conanfile.py") and '"LICENSE"' in text_of(CONAN / "conanfile.py")
    assert ("license", "MIT", {}) in spack_calls()
    assert text_of(CONDA).rstrip().endswith("license: MIT\n      license_file: LICENSE")


def test_the_port_keeps_the_rules_of_its_schema():
    """Those of vcpkg.schema.json that concern the fields in use."""
    port = manifest()
    assert set(port) <= {"name", "version", "port-version", "description", "homepage", "license", "supports", "dependencies", "default-features", "features"}
    identifier, version = r"[a-z0-9]+(-[a-z0-9]+)*", r"\d+(\.\d+)*"
    assert re.fullmatch(identifier, port["name"]) and port["name"] == PORT.name and re.fullmatch(version, port["version"])
    assert set(port["default-features"]) <= set(port["features"])
    everything = list(port["dependencies"])
    for name, feature in port["features"].items():
        assert re.fullmatch(identifier, name) and name not in ("core", "default")
        assert set(feature) <= {"description", "dependencies", "supports"} and isinstance(feature["description"], str)
        everything += feature["dependencies"]
    for dependency in everything:
        if isinstance(dependency, dict):
            assert {"name"} <= set(dependency) <= {"name", "host", "features", "default-features", "platform"}
    assert all(re.fullmatch(identifier, name) for name in dependency_names(everything))


#: vcpkg's functions as the port uses them, reduced to CMake alone.
STAND_INS = """
cmake_minimum_required(VERSION 3.22)
function(vcpkg_check_features)
  cmake_parse_arguments(given "" "OUT_FEATURE_OPTIONS" "FEATURES;INVERTED_FEATURES" ${ARGN})
  set(found "")
  foreach(list FEATURES INVERTED_FEATURES)
    while(given_${list})
      list(POP_FRONT given_${list} feature option)
      set(values OFF ON)
      if(list STREQUAL "INVERTED_FEATURES")
        list(REVERSE values)
      endif()
      list(FIND WANTED "${feature}" place)
      if(place EQUAL -1)
        list(GET values 0 value)
      else()
        list(GET values 1 value)
      endif()
      list(APPEND found "-D${option}=${value}")
    endwhile()
  endforeach()
  set(${given_OUT_FEATURE_OPTIONS} "${found}" PARENT_SCOPE)
endfunction()
function(vcpkg_cmake_configure)
  cmake_parse_arguments(given "" "SOURCE_PATH" "OPTIONS;MAYBE_UNUSED_VARIABLES" ${ARGN})
  execute_process(COMMAND "${CMAKE_COMMAND}" -S "${given_SOURCE_PATH}" -B "${BUILD}" ${given_OPTIONS} "-DCMAKE_INSTALL_PREFIX=${PREFIX}"
    OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_cmake_install)
  execute_process(COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_cmake_config_fixup)
  cmake_parse_arguments(given "" "CONFIG_PATH" "" ${ARGN})
  if(NOT EXISTS "${PREFIX}/${given_CONFIG_PATH}/netuitConfig.cmake")
    message(FATAL_ERROR "no netuitConfig.cmake in ${given_CONFIG_PATH}")
  endif()
endfunction()
function(vcpkg_fixup_pkgconfig)
endfunction()
function(vcpkg_install_copyright)
  cmake_parse_arguments(given "" "" "FILE_LIST" ${ARGN})
  file(COPY ${given_FILE_LIST} DESTINATION "${PREFIX}")
endfunction()
"""


@pytest.mark.parametrize("features, components, uses_zlib", [([], ["uit"], None), (["netuit"], ["netuit", "uit"], 0), (["netuit", "zlib"], ["netuit", "uit"], 1)])
def test_the_port_installs_what_its_features_say(features, components, uses_zlib, tmp_path):
    script = tmp_path / "install.cmake"
    script.write_text(STAND_INS + f'include("{PORT}/portfile.cmake")\n')
    facts = {"WANTED": ";".join(features), "BUILD": tmp_path / "build", "PREFIX": tmp_path / "prefix"}
    command = ["cmake", *(f"-D{name}={value}" for name, value in facts.items()), "-P", str(script)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    if features and "METIS" in ended.stderr:
        pytest.skip("METIS or Random123 is missing")
    assert ended.returncode == 0, ended.stderr
    prefix = tmp_path / "prefix"
    assert (prefix / "LICENSE").exists()
    assert sorted(path.stem for path in (prefix / "share" / "pkgconfig").iterdir()) == components
    if uses_zlib is not None:
        targets = text_of(prefix / "share" / "cmake" / "netuit" / "NetuitTargets.cmake")
        assert f"UIT_WITH_ZLIB={uses_zlib}" in targets


@pytest.mark.parametrize("path", sorted(PACKAGING.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGING)))
def test_a_recipe_in_python_is_python(path):
    compile(text_of(path), str(path), "exec")


def conan(words, home):
    """A command of Conan, with a home of its own. Skips the test if Conan is missing."""
    program = shutil.which("conan", path=os.pathsep.join([str(pathlib.Path(sys.executable).parent), os.environ["PATH"]]))
    if program is None:
        pytest.skip("conan is missing (pip install conan)")
    ended = subprocess.run([program, *words], env=os.environ | {"CONAN_HOME": str(home)}, capture_output=True, text=True, check=False, timeout=300)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_conan_reads_the_recipes(tmp_path):
    recipe = json.loads(conan(["inspect", str(CONAN), "--format", "json"], tmp_path))
    assert (recipe["name"], recipe["version"], recipe["license"]) == ("netuit", VERSION, "MIT")
    assert json.loads(conan(["inspect", str(CONAN / "random123"), "--format", "json"], tmp_path))["name"] == "random123"
    conan(["export", str(CONAN / "random123")], tmp_path)
    exported = json.loads(conan(["export", str(CONAN), "--format", "json"], tmp_path))
    assert exported["reference"].startswith(f"netuit/{VERSION}#")


def test_conan_makes_the_package_and_a_program_with_it(tmp_path):
    """Without the network layer, so that no other package is needed."""
    profile = tmp_path / "profile"
    conan(["profile", "detect", "--name", str(profile)], tmp_path / "home")
    words = ["create", str(CONAN), "--no-remote", "-pr:a", str(profile), "-s", "compiler.cppstd=20", "-o", "&:with_netuit=False"]
    conan([*words, "-c", f"tools.cmake.cmake_layout:test_folder={tmp_path / 'test'}", "-c", "tools.build:jobs=1"], tmp_path / "home")
    assert not (CONAN / "test_package" / "build").exists()


def test_rattler_build_renders_the_conda_recipe():
    if importlib.util.find_spec("rattler_build") is None:
        pytest.skip("rattler-build is missing (pip install py-rattler-build)")
    import rattler_build

    variants = rattler_build.Stage0Recipe.from_file(CONDA).render(rattler_build.VariantConfig())
    packages = {variant.recipe.package.name: variant.recipe.package.version for variant in variants}
    assert packages["netuit"] == VERSION and set(packages) == {"netuit", "random123"}
