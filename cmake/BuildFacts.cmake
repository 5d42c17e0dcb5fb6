# attn_build_facts(TARGET)
# Gives TARGET the header build_facts_generated.h: which source and which compiler made the build. The git revision is looked up at each
# build, but the header is rewritten only when it differs, so that an unchanged tree rebuilds nothing.

function(attn_build_facts target)
  # Warnings are left out: they do not change the code, and two builds that differ in them may be compared.
  get_property(options DIRECTORY ${PROJECT_SOURCE_DIR} PROPERTY COMPILE_OPTIONS)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}} ${OpenMP_CXX_FLAGS}")
  list(PREPEND flags -std=c++${CMAKE_CXX_STANDARD})
  list(APPEND flags ${options})
  list(FILTER flags EXCLUDE REGEX "^-W")
  list(JOIN flags " " flags)

  set(directory ${CMAKE_CURRENT_BINARY_DIR}/generated)
  add_custom_target(${target}_build_facts
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${directory}/build_facts_generated.h -DTEMPLATE=${PROJECT_SOURCE_DIR}/cmake/build_facts.h.in
            -DSOURCE_DIR=${PROJECT_SOURCE_DIR} -DVERSION=${PROJECT_VERSION} -DBUILD_TYPE=${CMAKE_BUILD_TYPE}
            "-DCOMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" "-DFLAGS=${flags}"
            -P ${PROJECT_SOURCE_DIR}/cmake/GenerateBuildFacts.cmake
    BYPRODUCTS ${directory}/build_facts_generated.h
    COMMENT "Looking up the git revision" VERBATIM)
  add_dependencies(${target} ${target}_build_facts)
  target_include_directories(${target} PRIVATE ${directory})
endfunction()
