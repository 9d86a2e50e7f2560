# What EmbedQueries and EmbedMigrations share. The generators are Perl, which every Debian has.
find_program(PERL perl REQUIRED)

# paceline_embed_files(TARGET SCRIPT HEADER DIR): HEADER under <build>/generated from DIR/*.sql.
function(paceline_embed_files target script header dir)
  set(tools ${CMAKE_SOURCE_DIR}/tools/cmake)
  set(output ${CMAKE_BINARY_DIR}/generated/${header})
  file(GLOB files CONFIGURE_DEPENDS ${dir}/*.sql)
  # The files are named on the command line, so that one which goes also runs the command again.
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${PERL} ${tools}/${script} ${output} ${files}
    DEPENDS ${files} ${tools}/${script} ${tools}/embed.pm
    COMMENT "Embedding ${header}"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
  target_include_directories(${target} PUBLIC ${CMAKE_BINARY_DIR}/generated)
endfunction()
