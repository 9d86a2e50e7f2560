#!/usr/bin/perl
# embed_queries.pl OUTPUT FILE.sql...: named SQL blocks as C++ constants (see EmbedQueries.cmake).
#
# A block starts with "-- name: claim_group" and ends before the next one. Lines that hold only a
# comment and the closing semicolon are dropped. Errors name file and line and stop the build.
use strict;
use warnings;
use File::Basename qw(dirname);
use lib dirname(__FILE__);
use embed qw(raw_string write_if_changed);

my ($output, @files) = @ARGV;
die "usage: embed_queries.pl OUTPUT FILE.sql...\n" unless defined $output;

my (@queries, %seen);

sub finish {
    my ($query) = @_;
    return unless $query;
    $query->{text} =~ s/\A\s+|[\s;]+\z//g;
    die "$query->{at}: query $query->{name} has no statement\n" if $query->{text} eq '';
    push @queries, $query;
}

for my $file (sort @files) {
    open my $in, '<', $file or die "$file: $!\n";
    my $query;
    while (my $line = <$in>) {
        if ($line =~ /^--\s*name:\s*(.*?)\s*$/) {
            my ($name, $at) = ($1, "$file:$.");
            die "$at: '$name' is no name: use a-z, 0-9 and _\n" unless $name =~ /^[a-z][a-z0-9_]*$/;
            die "$at: query $name is already at $seen{$name}\n" if $seen{$name};
            $seen{$name} = $at;
            finish($query);
            $query = { name => $name, at => $at, text => '' };
        } elsif ($line =~ /^\s*(--.*)?$/) {
            next;
        } elsif (!$query) {
            die "$file:$.: SQL before the first '-- name:' line\n";
        } else {
            $query->{text} .= $line;
        }
    }
    finish($query);
}

my $text = <<'END';
// Generated from storage/sql/*.sql at build time; edit those.
#pragma once

#include "storage/query_text.hpp"

#include <array>

namespace paceline::sql {

END
for my $query (@queries) {
    my $name = $query->{name};
    my $literal = raw_string($query->{text});
    $text .= "inline constexpr query_text $name\{\"$name\", $literal\};\n\n";
}
my $count = @queries;
$text .= "/// Every statement, in the order of the files.\n"
    . "inline constexpr std::array<const query_text*, $count> all_queries{"
    . join(', ', map { "&$_->{name}" } @queries)
    . "};\n\n} // namespace paceline::sql\n";
write_if_changed($output, $text);
