# Propagators on disk: read back they give the rows of the solves bit for bit, also on other ranks; a file is of one configuration,
# quark, source and tolerance, and any other is named; plaq check finds damage; two jobs make one whole file.
. "$(dirname "$0")/kit.bash"
need_mpi
write_pure_gauge gauge.ini
try run gauge.ini run.output=made run.start=hot run.trajectories=2 run.length=0.1 checkpoint.interval=1 checkpoint.keep=2 lattice.size=4.4.4.8
exits 0 "two configurations"
one=made/checkpoint-000001.h5 two=made/checkpoint-000002.h5
cat >plain.ini <<'INI'
[quark.light]
kappa = 0.12
c_sw = 1
solver = s

[solver.s]
type = bicgstab
tolerance = 1e-10

[smearing.wide]
width = 1
steps = 3

[source.origin]

[source.sink]
kind = sequential
propagator = light
time = 3
gamma = 15

[propagator.light]
quark = light
source = origin

[propagator.smeared]
quark = light
source = origin
sink_smearing = wide

[propagator.back]
quark = light
source = sink

[measure.pion]
kind = pion
propagator = light

[measure.smeared]
kind = mesons
propagator = smeared
propagator_2 = light
operators = pseudoscalar vector
momentum2 = 1

[measure.three]
kind = mesons
propagator = back
propagator_2 = light
operators = pseudoscalar
INI
files=(propagator.light.file=light-%d.h5 propagator.smeared.file=smeared-%06d.h5 propagator.back.file=back-%d.h5)
rows() { grep -v '"config":.*"digest"' out | sed 's/"seconds": [^,}]*//' >"$1"; }
try measure --json plain.ini $one
exits 0 "without files"
rows solved
same "files" 0 "$(ls *-1.h5 2>/dev/null | wc -l)"

say "written, and read in place of solving"
try measure --json plain.ini $one "${files[@]}"
exits 0 "files are written"
rows written
cmp -s solved written || fail "rows of the job that writes differ"
same "files" 3 "$(ls light-1.h5 smeared-000001.h5 back-1.h5 | wc -l)"
printed "propagator.light is in light-1.h5 ("
try measure --json plain.ini $one "${files[@]}" propagator.{light,smeared,back}.file_mode=read
exits 0 "files are read"
rows again
cmp -s solved again || fail "rows of the job that reads differ"
printed "propagator.light is read from light-1.h5" "propagator.back is read from back-1.h5"
if grep -q "column" err; then fail "something was solved for"; fi
sha256sum light-1.h5 smeared-000001.h5 back-1.h5 >sums
for n in 2 4; do
    try_ranks $n measure --json plain.ini $one "${files[@]}"
    exits 0 "read on $n ranks"
    rows again
    cmp -s solved again || fail "rows on $n ranks differ"
    try_ranks $n measure --json plain.ini $one "${files[@]}" propagator.{light,smeared,back}.file_mode=replace
    exits 0 "written on $n ranks"
    sha256sum -c --quiet sums || fail "the files of $n ranks differ"
done
# The sequential propagator alone: what it is made of is neither solved for nor read.
rm light-1.h5 smeared-000001.h5
sed '/measure.pion/,/^$/d; /measure.smeared/,/^$/d; s/^propagator_2 = light$/propagator_2 = back/' plain.ini >three.ini
try measure --json three.ini $one
rows solved
try measure --json three.ini $one propagator.back.file=back-%d.h5 propagator.light.file=light-%d.h5
exits 0 "a sequential propagator"
rows again
cmp -s solved again || fail "rows of the sequential propagator differ"
same "files" 0 "$(ls light-1.h5 2>/dev/null | wc -l)"

say "32 bits"
cat >single.ini <<'INI'
[quark.light]
kappa = 0.12
solver = s
[solver.s]
type = bicgstab
tolerance = 1e-10
[source.origin]
[propagator.light]
quark = light
source = origin
file = single.h5
file_bits = 32
[measure.pion]
kind = pion
propagator = light
INI
try measure --json single.ini $one
exits 0 "written in 32 bits"
rows written
try measure --json single.ini $one
exits 0 "read in 32 bits"
rows again
cmp -s written again || fail "rows of 32 bits tell whether the propagator was solved for"
try measure --json single.ini $one propagator.light.file=double.h5 propagator.light.file_bits=64
exits 0 "64 bits"
rows double
if cmp -s written double; then fail "32 bits give the rows of 64"; fi
checks=$((checks + 1))
[ "$(stat -c %s double.h5)" -gt $((17 * $(stat -c %s single.h5) / 10)) ] || fail "a file of 32 bits is no smaller"

say "other propagators are named"
# refused WHAT ARGUMENTS -- TEXTS
refused() {
    local what=$1 status=$2
    shift 2
    local words=()
    while [ "$1" != -- ]; do words+=("$1"); shift; done
    shift
    try measure --json "${words[@]}"
    exits "$status" "$what"
    printed "$@"
    cmp -s double.h5 before.h5 || fail "$what: the file has changed"
}
try fix --gauge coulomb --tolerance 0.5 --transformation g.h5 $one fixed.lime
exits 0 "a gauge transformation"
cp double.h5 before.h5
d=(single.ini $one propagator.light.file=double.h5 propagator.light.file_bits=64)
refused "another configuration" 1 single.ini $two "${d[@]:2}" -- "double.h5 is of another configuration (links "
refused "another mass" 1 "${d[@]}" quark.light.kappa=0.121 -- "double.h5 is another propagator" "quark.mass"
refused "another source" 1 "${d[@]}" source.origin.place=0.0.0.1 -- "source.place"
refused "another tolerance" 1 "${d[@]}" solver.s.tolerance=1e-9 -- "solver.tolerance"
refused "other bits" 1 "${d[@]:0:3}" -- "propagator.file_bits"
refused "no file to read" 1 single.ini $one propagator.light.file=none.h5 propagator.light.file_mode=read -- "none.h5 is not there, and file_mode = read solves for nothing"
refused "a file of a gauge transformation" 1 single.ini $one propagator.light.file=g.h5 -- "g.h5 is a gauge transformation, and not a propagator"
refused "a lattice file" 1 single.ini $one propagator.light.file=$two -- "$two is a checkpoint"
refused "a folder that is not there" 1 single.ini $one propagator.light.file=none/a.h5 -- "none/a.h5"
refused "no number in the pattern" 2 single.ini $one propagator.light.file=a-%s.h5 -- "file = a-%s.h5 has a % that is no %d"
refused "a mode without a file" 2 single.ini $one propagator.light.file= propagator.light.file_bits=32 -- "has file_bits, and no file"
refused "one file for two" 2 plain.ini $one propagator.light.file=a.h5 propagator.back.file=a.h5 -- "[propagator.light] and [propagator.back] have one file, a.h5"
refused "an unknown mode" 2 "${d[@]}" propagator.light.file_mode=write -- "file_mode" "share"
try measure --json single.ini $one "${d[@]:2}" propagator.light.file_mode=replace quark.light.kappa=0.121
exits 0 "another mass replaces the file"
if cmp -s double.h5 before.h5; then fail "the file was not replaced"; fi
cp before.h5 double.h5

say "damage"
try check double.h5
exits 0 "plaq check"
printed "double.h5: whole" "propagator (hdf5), 4.4.4.8, 64 bits, 12 columns of 12 numbers" "checksum     right" "quark.mass"
try_ranks 2 check --json double.h5 $one
exits 0 "plaq check on two ranks"
printed '"format": "propagator"' '"checksum_ok": true' '"columns": 12'
bytes=$(stat -c %s double.h5)
for at in 30 700 $((bytes / 2)) $((bytes - 9)); do
    cp before.h5 double.h5
    flip double.h5 "$at"
    try check double.h5
    exits 1 "byte $at is damaged"
    printed "double.h5: DAMAGED"
    try measure --json "${d[@]}"
    exits 1 "byte $at of the file is damaged"
    printed "double.h5"
done
cp before.h5 double.h5
truncate -s $((bytes - 100)) double.h5
try check double.h5
exits 1 "cut short"
try measure --json "${d[@]}"
exits 1 "cut short"
printed "double.h5: the file has $((bytes - 100)) bytes, its seal says $bytes"

say "SciDAC files"
l=(single.ini $one propagator.light.file=light.lime propagator.light.file_bits=64)
try measure --json "${l[@]}"
exits 0 "a SciDAC file is written"
rows again
cmp -s double again || fail "rows of the job that writes SciDAC differ"
try measure --json "${l[@]}" propagator.light.file_mode=read
exits 0 "it is read"
rows again
cmp -s double again || fail "rows of the job that reads SciDAC differ"
cp light.lime before.lime
try_ranks 4 measure --json "${l[@]}" propagator.light.file_mode=replace
exits 0 "it is replaced on 4 ranks"
cmp -s <(sed 's/<date>[^<]*//' before.lime | head -c 3000) <(sed 's/<date>[^<]*//' light.lime | head -c 3000) || fail "4 ranks write other records"
cmp -s <(tail -c 1000000 before.lime | head -c 990000) <(tail -c 1000000 light.lime | head -c 990000) || fail "4 ranks write other numbers"
try check light.lime
exits 0 "plaq check of it"
printed "light.lime: whole" "propagator (scidac), 4.4.4.8, 64 bits" "checksum     right"
try measure --json "${l[@]}" quark.light.kappa=0.121
exits 1 "another mass"
printed "light.lime is another propagator" "quark.mass"
flip light.lime 700
try check light.lime
exits 1 "a record is damaged"
cp before.lime light.lime
flip light.lime 500000
try check light.lime
exits 1 "the numbers are damaged"
try measure --json "${l[@]}"
exits 1 "the numbers are damaged"
printed "light.lime: the propagator is damaged"
# As another program writes it: without the seal, 208 bytes, and without plaq's record of the file.
head -c -208 before.lime | sed 's/plaqFile/anotherX/g' >foreign.lime
f=(single.ini $one propagator.light.file=foreign.lime propagator.light.file_bits=64)
try measure --json "${f[@]}"
exits 0 "a file of another program"
printed "foreign.lime is of another program and has |b - M x| / |b| = "
rows again
cmp -s <(head -n 1 double) <(head -n 1 again) || fail "rows of the file of another program differ"
try check foreign.lime
exits 0 "plaq check of it"
printed "links        not told"
try measure --json "${f[@]}" quark.light.kappa=0.1201
exits 1 "a file of another mass"
printed "foreign.lime has |b - M x| / |b| = " "above file_residual = 1e-05"
try measure --json "${f[@]}" source.origin.place=1.0.0.0
exits 1 "a file of another source"
try measure --json single.ini $two "${f[@]:2}"
exits 1 "a file of other links"
try measure --json "${f[@]}" propagator.light.file_mode=replace
exits 1 "a file of another program is not replaced"
printed "foreign.lime"

say "two jobs at once"
rm -f shared.h5
for k in 1 2 3; do
    "$plaq" measure --json single.ini $one propagator.light.file=shared.h5 propagator.light.file_bits=64 >job$k 2>job$k.err &
done
wait
for k in 1 2 3; do grep '"pion"' job$k | cmp -s - <(grep '"pion"' double) || fail "job $k has other rows"; done
cmp -s shared.h5 before.h5 || fail "the file of three jobs is not that of one"
same "temporary files" 0 "$(ls -A | grep -c '\.tmp$')"

say "in a run"
write_input run.ini
cat >>run.ini <<'INI'
[source.origin]
[propagator.light]
quark = light
source = origin
file = run.h5
[measure.pion]
kind = pion
propagator = light
interval = 2
INI
try run run.ini
exits 2 "one file for a run"
printed "file = run.h5 is the name of one file, and plaq run measures on many configurations"
try run --dry-run --json run.ini propagator.light.file=run-%d.h5
exits 0 "the dry run of a run"
printed '"propagator_bytes": 589824'
try run run.ini propagator.light.file=run-%d.h5
exits 0 "a pattern for a run"
same "files" "run-2.h5 run-4.h5" "$(echo run-*.h5)"
try measure run.ini propagator.light.file=run-%d.h5 propagator.light.file_mode=read out.run/checkpoint-000004.h5
exits 0 "the propagator of a run"

say "the dry run tells the bytes"
try measure --dry-run --json "${d[@]}"
exits 0 "a dry run"
printed '"propagator_bytes": 1179648'
printed "disk: propagator.light takes" "in double.h5"
finish
