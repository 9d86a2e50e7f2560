# paceline_embed_migrations(TARGET DIR): makes storage/migration_list.hpp under <build>/generated
# from DIR/NNNN_verb_noun.sql, again whenever a file there changes, comes or goes.
include(EmbedFiles)

function(paceline_embed_migrations target dir)
  paceline_embed_files(${target} embed_migrations.pl storage/migration_list.hpp ${dir})
endfunction()
