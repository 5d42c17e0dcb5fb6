# What every target of the project is compiled with.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# A contracted `loc + scale * z` differs from NumPy in the last bit, and a contracted `s*c - m*c` is not 0 for s == m. Kernels ask for
# FMA by name. Never -ffast-math (masks need -inf), never a global -march (it breaks run-time dispatch).
add_compile_options(-ffp-contract=off -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  add_compile_options(-Wno-restrict)  # false alarms in std::string's operator+ (GCC bug 105651)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND ATTN_SANITIZE)
  add_compile_options(-Wno-maybe-uninitialized)  # GCC with sanitizers sees uninitialised members in its own <regex>
endif()
if(ATTN_WARNINGS_AS_ERRORS)
  add_compile_options(-Werror)
endif()

if(ATTN_SANITIZE)
  add_compile_options(-fsanitize=${ATTN_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${ATTN_SANITIZE})
endif()

# attn_compile_quickly(TARGET): for code where no time is spent when it runs. What is fast stands in src/, and is optimised fully, or is
# named to attn_compile_fully.
# `PARSED_ONCE` headers are parsed once for all of the target's files: most of the compiler's time goes into large template libraries.
# `COMPUTES_LITTLE`: not even a plain reference stands there. With sanitizers, whose checks take the optimiser twice as long as all the rest,
# it is then not optimised at all.
function(attn_compile_quickly target)
  cmake_parse_arguments(arg "COMPUTES_LITTLE" "" "PARSED_ONCE" ${ARGN})
  set(level -O1)
  if(ATTN_SANITIZE AND arg_COMPUTES_LITTLE)
    set(level -O0)
  endif()
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:${level}>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # At -O1 the same false alarms have other names.
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overread -Wno-stringop-overflow)
  endif()
  if(arg_PARSED_ONCE)
    target_precompile_headers(${target} PRIVATE ${arg_PARSED_ONCE})
  endif()
endfunction()

# attn_compile_fully(TARGET FILES): files of such a target that do spend time.
function(attn_compile_fully target)
  target_sources(${target} PRIVATE ${ARGN})
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release,RelWithDebInfo>:-O3> SKIP_PRECOMPILE_HEADERS ON
                              SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# attn_compile_together(TARGET GROUP FILES): files of a target that go through the compiler as one, which halves the time of a clean build:
# what they instantiate of the JSON and option libraries is instantiated once. Names in unnamed namespaces must differ within a group.
option(ATTN_COMPILE_TOGETHER "Compile groups of files of the program and the tests as one: faster from scratch, slower after a change" ON)
function(attn_compile_together target group)
  target_sources(${target} PRIVATE ${ARGN})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${ATTN_COMPILE_TOGETHER} UNITY_BUILD_MODE GROUP)
  set_source_files_properties(${ARGN} PROPERTIES UNITY_GROUP ${group})
endfunction()
