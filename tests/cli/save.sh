# [save]: the configurations of an ensemble that are kept: which, under which names, in which format; restarts make none twice
# and miss none; a file of another run under that name stops the run; the dry run says how many and how large.
. "$(dirname "$0")/kit.bash"
write_pure_gauge a.ini
printf '\n[save]\ninterval = 2\nfrom = 3\n' >>a.ini
small="run.length=0.1 run.trajectories=9 checkpoint.interval=5 checkpoint.keep=1"
digest_of() { "$plaq" check --json "$1" | sed -n 's/.*"digest": "\([^"]*\)".*/\1/p'; }

say "which are kept"
try run --json a.ini $small run.output=whole
exits 0 "the run"
same "kept" 3 "$(value kept)"
same "names" "configuration-000004.lime configuration-000006.lime configuration-000008.lime" "$(ls whole/configurations | tr '\n' ' ' | sed 's/ $//')"
same "checkpoints" "checkpoint-000009.h5" "$(cd whole && ls checkpoint-*)"
try check --json whole/configurations/*
exits 0 "they are whole"
try run --json a.ini $small run.output=short run.trajectories=6
exits 0 "a shorter run"
same "links of trajectory 6" "$(digest_of short/checkpoint-000006.h5)" "$(digest_of whole/configurations/configuration-000006.lime)"

for format in nersc hdf5; do
    say "format $format"
    try run --json a.ini $small run.output=$format save.format=$format save.ensemble=beta57 run.trajectories=4 \
        save.name=l44.%03d.$format
    exits 0 "format $format"
    file=$format/configurations/l44.004.$format
    same "links" "$(digest_of whole/configurations/configuration-000004.lime)" "$(digest_of "$file")"
    try check --json "$file"
    exits 0 "$file"
    same "trajectory" 4 "$(value sequence)"
    grep -qa beta57 "$file" || fail "$file does not name the ensemble"
    checks=$((checks + 1))
    grep -qaF "$("$plaq" --version)" "$file" || fail "$file does not name the program"
done
grep -qa "SEQUENCE_NUMBER = 4" nersc/configurations/l44.004.nersc || fail "no SEQUENCE_NUMBER"
grep -qa "^gauge.beta = 5.7$" nersc/configurations/l44.004.nersc || fail "no parameters in the header"
same "named in the index" "configurations/l44.004.nersc" "$(awk '$1 == 4 { print $2 }' nersc/configurations.tsv)"

say "32 bits and two rows: the index and a restart know the links as the file has them"
for layout in "save.bits=32 save.lfn=lfn://here/%d" "save.format=milc save.name=l44.%d" "save.format=nersc save.rows=2"; do
    rm -rf rounded
    try run --json a.ini $small run.output=rounded run.trajectories=4 $layout
    exits 0 "$layout"
    try run --json a.ini $small run.output=rounded run.trajectories=5 $layout
    exits 0 "$layout, again"
    try check --json rounded/configurations/*
    exits 0 "$layout: it is whole"
    same "its digest" "$(awk '$1 == 4 { print $3 }' rounded/configurations.tsv)" "$(value digest)"
    [ "${layout%lfn*}" = "$layout" ] || same "its name" lfn://here/4 "$(value lfn)"
done

say "what [save] cannot have"
refused() {
    try run a.ini $small "$1"
    exits 2 "$1"
    printed "$2"
}
refused save.name=l44 "[save] name = l44 has no %d for the trajectory number"
refused save.name=%d/%d "has more than one %"
refused save.name=l44.%s "has a % that is no %d, %06d or the like"
refused save.name=a/%d "is no name of a file in the folder configurations"
refused save.lfn=x "[save] lfn = x has no %d"
refused save.rows=2 "[save] files of format ildg have links of 3 rows, not 2"
refused save.format=milc-old "'milc-old' is unknown; allowed: ildg, scidac, nersc, hdf5, milc or openqcd"
try run a.ini $small save.format=milc save.bits=64
exits 2 "MILC has no 64 bits"
printed "[save] files of format milc have numbers of 32 bits, not 64"
try run a.ini $small save.format=openqcd save.ensemble=beta57
exits 2 "openQCD has no label"
printed "[save] ensemble is given, but files of format openqcd have no place for it"
try run a.ini $small save.format=scidac save.lfn=lfn://%d
exits 2 "SciDAC has no logical file name"
printed "[save] lfn is given, but files of format scidac have no place for it; only those of ildg do"

say "conversion: links, trajectory number, label and parameters go through every format, for other readers too"
try convert whole/configurations/configuration-000004.lime named.lime --ensemble "beta57" --lfn lfn://here/4
exits 0 "names are given"
parameters=$("$plaq" check --json named.lime | sed -n 's/.*"parameters": "\([^"]*\)".*/\1/p')
same "parameters" 'lattice.size = 4.4.4.4\nlattice.time_boundary = antiperiodic\ngauge.action = wilson\ngauge.beta = 5.7\ngauge.xi_0 = 1\n' "$parameters"
for format in ildg scidac nersc hdf5 milc openqcd "ildg --bits 32" "scidac --bits 32" "nersc --bits 32" "nersc --rows 2"; do
    try convert named.lime copy --format $format
    exits 0 "to $format"
    try check --json copy
    exits 0 "$format is whole"
    digest=$(value digest)
    case $format in
    *32 | *2 | milc) ;;
    *) same "links of $format" "$(digest_of named.lime)" "$digest" ;;
    esac
    names="4 beta57 -"
    case $format in
    ildg*) names="4 beta57 lfn://here/4" ;;
    milc | openqcd) names="- - -" ;;
    esac
    if [ "${names#-}" = "$names" ]; then
        same "trajectory of $format" 4 "$(value sequence)"
        same "label of $format" beta57 "$(value ensemble)"
        same "parameters of $format" "$parameters" "$(value parameters)"
    fi
    case $format in
    hdf5 | *2) continue ;; # of two rows the digits of the third are the reader's own
    esac
    ! command -v python3 >/dev/null ||
        same "$format for another reader" "$names $digest" "$(python3 "$source"/tests/cli/read_links.py copy 2>&1)"
done
try convert named.lime back.lime --bits 32
try convert back.lime back.milc
exits 0 "what the copy loses is said"
printed "files of format milc have no place for trajectory number, ensemble and parameters: the copy loses them"
same "32 bits are the same in all formats" "$(digest_of back.lime)" "$(digest_of back.milc)"
try convert named.lime copy.milc --ensemble a
exits 2 "MILC has no label"
printed "--ensemble is given, but files of format milc have no place for it"
try convert named.lime copy.nersc --bits 16
exits 2 "no such width"
printed "plaq convert: --bits 16: give a whole number from 32 to 64"

checks=$((checks + 2))
grep -qaF "$("$plaq" --version)" whole/configurations/configuration-000004.lime || fail "LIME: no program"
"$plaq" --version | grep -qE '^plaq [0-9.]+ \((git [0-9a-zA-Z._-]+, )?source [0-9a-f]{16}\)$' || fail "$("$plaq" --version)"
try convert whole/configurations/configuration-000004.lime copy.nersc
exits 0 "convert"
checks=$((checks + 1))
grep -qaF "PROGRAM = $("$plaq" --version)" copy.nersc || fail "the copy does not name the program"

say "a run in pieces, one of them killed, keeps the same files"
for n in 3 4 5 7; do
    try run --json a.ini $small run.output=pieces run.trajectories=$n
    exits 0 "to trajectory $n"
done
background "$plaq" run --json a.ini $small run.output=pieces run.trajectories=100000
for _ in $(seq 500); do
    [ -e pieces/configurations/configuration-000012.lime ] && break
    sleep 0.02
done
kill -9 $pid
{ wait $pid || true; } 2>/dev/null
newest=$(ls pieces/configurations | tail -n 1 | tr -dc 0-9 | sed 's/^0*//')
try run --json a.ini $small run.output=pieces run.trajectories=$((newest + 2))
exits 0 "the rest"
tidy pieces
tidy pieces/configurations
for n in 4 6 8; do
    cmp -s <(digest_of whole/configurations/configuration-00000$n.lime) <(digest_of pieces/configurations/configuration-00000$n.lime) ||
        fail "configuration $n differs"
done
checks=$((checks + 3))
same "none is missing" "$(((newest + 2) / 2 - 1))" "$(ls pieces/configurations | wc -l)"

say "the index lists them, of a run in one go and of one in pieces alike"
checks=$((checks + 2))
cmp -s <(head -n 4 whole/configurations.tsv) <(head -n 4 pieces/configurations.tsv) || fail "the indices differ"
same "its columns" "trajectory file digest plaquette acceptance crc32" "$(head -n 1 whole/configurations.tsv | tr '\t' ' ')"
same "one line each" "$(ls pieces/configurations | wc -l)" "$(tail -n +2 pieces/configurations.tsv | wc -l)"
while IFS="$(printf '\t')" read -r number file digest plaquette acceptance crc; do
    [ "$number" != trajectory ] || continue
    try check --json "whole/$file"
    same "trajectory" "$number" "$(value sequence)"
    same "digest of $file" "$digest" "$(value digest)"
    same "plaquette of $file" "$(printf %.12f "$plaquette")" "$(printf %.12f "$(value plaquette)")"
done <whole/configurations.tsv
if command -v h5dump >/dev/null; then
    share=$(h5dump -d /trajectories/accepted whole/history.h5 | sed -n 's/^ *([0-9]*): //p' | tr -d ' \n' |
        awk -F, '{ printf "%.4f", ($5 + $6) / 2 }')
    same "accepted of trajectories 5 and 6" "$share" "$(awk '$1 == 6 { print $5 }' whole/configurations.tsv)"
fi

say "an index that was deleted, cut off or damaged: the report says so, and the next start makes the same one from the files"
index=whole/configurations.tsv
cp $index intact
# again WHAT NOTE...: what the report says of the index as it is now, and what the next start makes of it.
again() {
    local what=$1
    shift
    try report whole
    exits 0 "$what, the report"
    printed "what is missing or uncertain" "$@"
    try run --json a.ini $small run.output=whole
    exits 0 "$what, the next start"
    checks=$((checks + 1))
    cmp -s intact $index || fail "$what: another index than before"
}
rm $index
again "deleted" "configurations.tsv is missing; it lacks 3 files in configurations (configurations/configuration-000004.lime, ...): plaq run makes it again at its next start"
head -c $(($(stat -c %s $index) - 20)) intact >$index
again "cut off" "configurations.tsv has 1 damaged line" "configurations.tsv lacks 1 file in configurations (configurations/configuration-000008.lime)"
: >$index
again "empty" "configurations.tsv lacks 3 files"
bytes=$(stat -c %s intact)
for at in $(seq 0 61 $((bytes - 1))) $((bytes - 1)); do
    cp intact $index
    flip $index "$at"
    again "a bit of byte $at" "configurations.tsv has "
done
# Versions without the last column.
cut -f 1-5 intact >$index
try report whole
grep -q "damaged" out && fail "the index of an older version is damaged" || checks=$((checks + 1))
printed "configurations kept  3"
cp intact $index
# Formats that have no place for the trajectory: the name says it. Other files there are no configurations.
try run --json a.ini $small run.output=named run.trajectories=4 save.format=milc save.name=l44.%d
cp named/configurations.tsv intact
rm named/configurations.tsv
echo notes >named/configurations/README
try run --json a.ini $small run.output=named run.trajectories=4 save.format=milc save.name=l44.%d
exits 0 "an index of MILC files"
printed "not in the index configurations.tsv" "README"
cmp -s intact named/configurations.tsv || fail "another index of MILC files"
rm named/configurations/README named/configurations/l44.4
try report named
printed "1 configuration of configurations.tsv (configurations/l44.4) is not there: moved away, or deleted"
if [ -n "${PLAQ_MPIEXEC:-}" ]; then
    cp $index intact
    rm $index
    try_ranks 2 run --json a.ini $small run.output=whole
    exits 0 "the next start on two ranks"
    cmp -s intact $index || fail "another index on two ranks"
fi

say "one that was lost comes back while its checkpoint is the newest"
rm pieces/configurations/configuration-*"$((newest + 2))".lime
try run --json a.ini $small run.output=pieces run.trajectories=$((newest + 2))
exits 0 "nothing to do but that"
same "made again" 1 "$(value kept)"

say "a file of another run is not replaced"
try run --json a.ini $small run.output=other run.seed=12 run.trajectories=4
mkdir -p mixed/configurations
cp other/configurations/configuration-000004.lime mixed/configurations/
cp mixed/configurations/configuration-000004.lime before
try run --json a.ini $small run.output=mixed
exits 4 "another run's configuration"
printed "mixed/configurations/configuration-000004.lime: holds other links than this run has" "move it away"
checks=$((checks + 1))
cmp -s before mixed/configurations/configuration-000004.lime || fail "it was replaced"
rm mixed/configurations/configuration-000004.lime
try run --json a.ini $small run.output=mixed
exits 0 "it goes on"
same "links" "$(digest_of whole/checkpoint-000009.h5)" "$(value digest)"
same "all are there" 3 "$(ls mixed/configurations | wc -l)"

say "the dry run counts them"
try run --dry-run --json a.ini run.trajectories=2000 lattice.size=32.32.32.64 save.interval=10 save.from=200 --ranks 64
exits 0 "a dry run"
same "how many" 181 "$(value kept)"
printed "181 configurations of 1.1 GiB are kept in out.run/configurations, 203.6 GiB in all"
try run --dry-run a.ini save.interval=0
exits 0 "a dry run that keeps none"
printed "no configuration of the 4 trajectories is kept but the last 3 checkpoints; [save] interval = N"
for input in "$source"/inputs/*.ini; do
    grep -q '^\[integrator' "$input" || continue
    checks=$((checks + 1))
    grep -q '^\[save\]' "$input" || fail "$input keeps no configuration"
done
finish
