# What the checks share: which files there are, C++ without its comments, and how findings are told.
package checks;
use strict;
use warnings;
use Exporter qw(import);
our @EXPORT_OK = qw(start files content without_comments without_literals found finish);

my (@findings, $name, %seen);

# start(NAME, HELP): answers --help and enters the folder to check, by default this repository.
sub start {
    ($name, my $help) = @_;
    my $root = $ARGV[0] // '';
    if ($root eq '-h' || $root eq '--help') { print $help; exit 0; }
    if ($root =~ /^-/ || @ARGV > 1) { print STDERR $help; exit 2; }
    if ($root eq '') { ($root = $0) =~ s{[^/]*$}{../..}; }
    chdir $root or die "$name: $root: $!\n";
}

# Every file of the repository whose path matches, sorted; what builds and runs leave is no part.
sub files {
    my ($pattern) = @_;
    open my $list, '-|', 'find', '.', '-type', 'd',
        qw{( -name .git -o -path ./build -o -path ./build-* -o -path ./.paceline ) -prune -o},
        qw(-type f -print)
        or die "$name: find: $!\n";
    my @paths;
    while (my $path = <$list>) {
        chomp $path;
        $path =~ s{^\./}{};
        push @paths, $path if $path =~ $pattern;
    }
    close $list or die "$name: find failed\n";
    $seen{$_}++ for @paths;
    return sort @paths;
}

sub content {
    my ($path) = @_;
    open my $in, '<:raw', $path or die "$name: $path: $!\n";
    local $/;
    return <$in> // '';
}

my $raw = qr/R"([^()\\\s]{0,16})\(.*?\)\g{-1}"/s;
my $string = qr/"(?:[^"\\\n]|\\.)*"/s;
my $character = qr/(?<![0-9a-zA-Z_])'(?:[^'\\\n]|\\.)+'/s;
my $comment = qr{//[^\n]*|/\*.*?\*/}s;

sub blank { (my $gone = $_[0]) =~ s/[^\n]+/ /g; return $gone; }

# C++ with comments replaced by blanks; line numbers stay.
sub without_comments {
    my ($text) = @_;
    $text =~ s/($raw)|($string)|($character)|($comment)/defined $5 ? blank($5) : $&/ge;
    return $text;
}

# The same with the insides of strings and character literals gone as well.
sub without_literals {
    my ($text) = @_;
    $text =~ s{($raw)|($string)|($character)|($comment)}
               {defined $5 ? blank($5) : '""' . blank($&)}ge;
    return $text;
}

sub found {
    my ($path, $line, $message) = @_;
    push @findings, $line ? "$path:$line: $message" : "$path: $message";
}

sub finish {
    print "$_\n" for @findings;
    printf "%s: %s in %d files\n", $name, @findings ? @findings . ' findings' : 'nothing wrong',
        scalar keys %seen;
    exit(@findings ? 1 : 0);
}

1;
