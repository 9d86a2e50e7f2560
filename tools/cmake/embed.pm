# What embed_queries.pl and embed_migrations.pl share: text as C++ literals.
package embed;
use strict;
use warnings;
use Exporter qw(import);
use File::Basename qw(dirname);
use File::Path qw(make_path);
our @EXPORT_OK = qw(raw_string write_if_changed);

# Compilers need to accept no more than 64 KiB in one literal: longer text becomes several
# adjacent ones, cut at line ends.
my $longest = 60_000;

sub raw_string {
    my ($text) = @_;
    die "the text contains )sql\", which ends the literal\n" if index($text, ')sql"') >= 0;
    my @parts = ('');
    for my $line (split /(?<=\n)/, $text) {
        push @parts, '' if length($parts[-1]) > 0 && length($parts[-1]) + length($line) > $longest;
        $parts[-1] .= $line;
    }
    return join "\n", map { "R\"sql($_)sql\"" } @parts;
}

# An unchanged header keeps its time stamp, so that nothing is compiled again.
sub write_if_changed {
    my ($path, $text) = @_;
    if (open my $in, '<', $path) {
        my $old = do { local $/; <$in> } // '';
        return if $old eq $text;
    }
    make_path(dirname($path));
    open my $out, '>', "$path.new" or die "$path.new: $!\n";
    print {$out} $text;
    close $out or die "$path.new: $!\n";
    rename "$path.new", $path or die "$path: $!\n";
}

1;
