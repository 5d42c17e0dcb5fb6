# Writes OUTPUT from TEMPLATE with VERSION, BUILD_TYPE, COMPILER, FLAGS as given and the git revision of SOURCE_DIR.
# Without git, or in a source tree that is not itself a repository (a tarball, perhaps unpacked inside another project's): no revision.

set(GIT_SHA "")
set(GIT_DIRTY false)
find_program(GIT git)

function(ask_git output)
  execute_process(COMMAND ${GIT} --no-optional-locks -C ${SOURCE_DIR} ${ARGN}
                  OUTPUT_VARIABLE answer RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(failed)
    set(answer "")
  endif()
  set(${output} "${answer}" PARENT_SCOPE)
endfunction()

if(GIT)
  ask_git(top rev-parse --show-toplevel)
  file(REAL_PATH "${SOURCE_DIR}" source)
  if("${top}" STREQUAL "${source}")
    ask_git(GIT_SHA rev-parse HEAD)
    ask_git(changes status --porcelain --untracked-files=no)
    if(NOT "${changes}" STREQUAL "")
      set(GIT_DIRTY true)
    endif()
  endif()
endif()

configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
