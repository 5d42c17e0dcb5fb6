# attn_embed_files(TARGET NAMESPACE_FUNCTION BASE_DIR files...)
# Compiles files into TARGET. FUNCTION(name) gives the bytes of the file whose path below BASE_DIR is `name`; see embedded_files.h.in.

function(attn_embed_files target function base_dir)
  set(generated ${CMAKE_CURRENT_BINARY_DIR}/${function}.cpp)
  set(inputs "")
  foreach(file IN LISTS ARGN)
    list(APPEND inputs ${base_dir}/${file})
  endforeach()
  add_custom_command(
    OUTPUT ${generated}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${generated} -DFUNCTION=${function} -DBASE_DIR=${base_dir} "-DFILES=${ARGN}"
            -P ${PROJECT_SOURCE_DIR}/cmake/GenerateEmbedded.cmake
    DEPENDS ${inputs} ${PROJECT_SOURCE_DIR}/cmake/GenerateEmbedded.cmake
    COMMENT "Embedding ${function}" VERBATIM)
  target_sources(${target} PRIVATE ${generated})
endfunction()
