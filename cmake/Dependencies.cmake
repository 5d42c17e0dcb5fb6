# Libraries: the installed ones where there are any, else pinned sources.
# libzip is found through pkg-config: its CMake file on Debian fails without the zip tools.

include(FetchContent)
set(FETCHCONTENT_QUIET OFF)

FetchContent_Declare(CLI11 GIT_REPOSITORY https://github.com/CLIUtils/CLI11.git GIT_TAG v2.1.2 FIND_PACKAGE_ARGS 2.1 NAMES CLI11)
FetchContent_Declare(fmt GIT_REPOSITORY https://github.com/fmtlib/fmt.git GIT_TAG 9.1.0 FIND_PACKAGE_ARGS 9 NAMES fmt)
FetchContent_Declare(nlohmann_json GIT_REPOSITORY https://github.com/nlohmann/json.git GIT_TAG v3.11.2
                     FIND_PACKAGE_ARGS 3.11 NAMES nlohmann_json)
set(HWY_ENABLE_TESTS OFF CACHE INTERNAL "")
set(HWY_ENABLE_EXAMPLES OFF CACHE INTERNAL "")
set(HWY_ENABLE_CONTRIB OFF CACHE INTERNAL "")
FetchContent_MakeAvailable(CLI11 fmt nlohmann_json)

find_package(Threads REQUIRED)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(PkgConfig REQUIRED)

# Highway: Debian ships it for pkg-config only.
pkg_check_modules(LIBHWY IMPORTED_TARGET libhwy>=1.0.3)
if(LIBHWY_FOUND)
  add_library(hwy::hwy ALIAS PkgConfig::LIBHWY)
else()
  FetchContent_Declare(highway GIT_REPOSITORY https://github.com/google/highway.git GIT_TAG 1.0.3)
  FetchContent_MakeAvailable(highway)
  if(NOT TARGET hwy::hwy)
    add_library(hwy::hwy ALIAS hwy)
  endif()
endif()

pkg_check_modules(LIBZIP REQUIRED IMPORTED_TARGET libzip)

# xxHash is used header-only.
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)
add_library(xxhash INTERFACE)
target_include_directories(xxhash SYSTEM INTERFACE ${XXHASH_INCLUDE_DIR})
target_compile_definitions(xxhash INTERFACE XXH_INLINE_ALL)

if(ATTN_BUILD_TESTS)
  FetchContent_Declare(Catch2 GIT_REPOSITORY https://github.com/catchorg/Catch2.git GIT_TAG v3.4.0 FIND_PACKAGE_ARGS NAMES Catch2)
  FetchContent_MakeAvailable(Catch2)

  # valijson, header-only, validates JSON against the schema in data/.
  option(ATTN_FETCH_VALIJSON "Fetch valijson where it is not installed" OFF)
  find_path(VALIJSON_INCLUDE_DIR valijson/schema.hpp)
  if(NOT VALIJSON_INCLUDE_DIR AND ATTN_FETCH_VALIJSON)
    FetchContent_Declare(valijson GIT_REPOSITORY https://github.com/tristanpenman/valijson.git GIT_TAG v1.0)
    FetchContent_GetProperties(valijson)
    if(NOT valijson_POPULATED)
      FetchContent_Populate(valijson)  # only its headers are wanted, not its own build
    endif()
    set(VALIJSON_INCLUDE_DIR ${valijson_SOURCE_DIR}/include)
  endif()
  if(VALIJSON_INCLUDE_DIR)
    add_library(valijson INTERFACE)
    target_include_directories(valijson SYSTEM INTERFACE ${VALIJSON_INCLUDE_DIR})
  else()
    message(STATUS "valijson is not installed: the test of the JSON schema is left out (-DATTN_FETCH_VALIJSON=ON fetches it)")
  endif()
endif()
