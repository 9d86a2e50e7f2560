# paceline_embed_queries(TARGET DIR): makes storage/sql/queries.hpp under <build>/generated from
# DIR/*.sql, again whenever a file there changes, comes or goes.
include(EmbedFiles)

function(paceline_embed_queries target dir)
  paceline_embed_files(${target} embed_queries.pl storage/sql/queries.hpp ${dir})
endfunction()
