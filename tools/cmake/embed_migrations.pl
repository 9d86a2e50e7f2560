#!/usr/bin/perl
# embed_migrations.pl OUTPUT NNNN_verb_noun.sql...: the migrations as one sorted C++ array (see
# EmbedMigrations.cmake). Numbers run from 1 without a gap; the text is embedded byte for byte,
# because its checksum is stored in the database.
use strict;
use warnings;
use File::Basename qw(basename dirname);
use lib dirname(__FILE__);
use embed qw(raw_string write_if_changed);

my ($output, @files) = @ARGV;
die "usage: embed_migrations.pl OUTPUT NNNN_verb_noun.sql...\n" unless defined $output;

my @entries;
for my $file (sort { basename($a) cmp basename($b) } @files) {
    my ($number, $name) = basename($file) =~ /^(\d{4})_([a-z0-9]+(?:_[a-z0-9]+)+)\.sql$/
        or die "$file: a migration is named NNNN_verb_noun.sql\n";
    my $expected = sprintf '%04d', scalar(@entries) + 1;
    die "$file: expected number $expected here (a gap, or one number twice)\n"
        if $number ne $expected;
    open my $in, '<', $file or die "$file: $!\n";
    my $text = do { local $/; <$in> } // '';
    die "$file: empty\n" if $text !~ /\S/;
    push @entries, sprintf("    {%d, \"%s\", %s},\n", $number, $name, raw_string($text));
}

my $count = @entries;
my $text = <<'END';
// Generated from migrations/*.sql at build time; edit those.
#pragma once

#include <array>
#include <string_view>

namespace paceline {

/// One step of the schema. Never edited once landed.
struct migration {
  int number;            ///< 1, 2, ... without a gap
  std::string_view name; ///< `verb_noun` from the file's name
  std::string_view text; ///< the whole file, byte for byte
};

END
$text .= "inline constexpr std::array<migration, $count> all_migrations{{\n"
    . join('', @entries)
    . "}};\n\n} // namespace paceline\n";
write_if_changed($output, $text);
