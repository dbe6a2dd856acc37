# Outputs of every command: several programs may add to one file of measurements, which takes rows of one identity alone and
# says what made them; a file that is something else is refused; a list goes on past what cannot be read; and a write that
# fails, at whatever place, ends orderly and leaves nothing half-written.
. "$(dirname "$0")/kit.bash"
write_pure_gauge gauge.ini
try run gauge.ini run.output=made run.trajectories=8 run.length=0.1 checkpoint.interval=1 checkpoint.keep=8
exits 0 "eight configurations"
one=made/checkpoint-000001.h5 two=made/checkpoint-000002.h5
cat >m.ini <<'INI'
[quark.light]
kappa = 0.12
c_sw = 1
solver = s

[solver.s]
type = cg
tolerance = 1e-9

[measure.loops]
kind = loops

[measure.pion]
kind = pion
propagator = light

[propagator.light]
quark = light
source = origin

[source.origin]
INI
printf '[measure.loops]\nkind = loops\n' >loops.ini

# extent FILE DATASET: "rows", or "rows, times".
extent() { h5dump -H -d "/$2" "$1" | sed -n 's/.*SIMPLE { ( \([0-9, ]*\) ).*/\1/p'; }
# rows FILE TABLE: how many rows it has.
rows() { extent "$1" "measure/$2/config"; }
values() { h5dump -A 0 -y -w 1 -m %.17g -d "/$2" "$1" | grep -E '^ *[-0-9.e+]+,?$' | tr -d ' ,' | tr '\n' ' '; }
text() { h5dump -d "$2" "$1"; }
have_tools=$(command -v h5dump || true)

# cold_nersc X Y Z T: a file of unit links.
cold_nersc() {
    local sites=$(($1 * $2 * $3 * $4))
    printf 'BEGIN_HEADER\nDATATYPE = 4D_SU3_GAUGE_3x3\nDIMENSION_1 = %d\nDIMENSION_2 = %d\nDIMENSION_3 = %d\nDIMENSION_4 = %d\n' "$@"
    # Words of 32 bits: three ones, 0x3f800000, in a link, four links on a site.
    printf 'CHECKSUM = %x\nLINK_TRACE = 1\nPLAQUETTE = 1\nFLOATING_POINT = IEEE32BIG\nEND_HEADER\n' \
        $(((12 * sites * 0x3f800000) & 0xffffffff))
    local one='\x3f\x80\0\0' none='\0\0\0\0' link
    link=$one$none$none$none$none$none$none$none$one$none$none$none$none$none$none$none$one$none
    for _ in $(seq $((4 * sites))); do printf "$link"; done
}

# ---- several programs, one file ----

say "eight programs add to one file at once"
pids=
for i in 1 2 3 4 5 6 7 8; do
    OMP_NUM_THREADS=1 "$plaq" measure --output together.h5 loops.ini made/checkpoint-00000$i.h5 >/dev/null 2>err.$i </dev/null &
    pids="$pids $!"
done
for pid in $pids; do
    status=0
    wait "$pid" || status=$?
    exits 0 "a program among eight"
done
[ -z "$have_tools" ] || same "rows of eight programs" "8 8" "$(rows together.h5 loops) $(extent together.h5 configs/file)"
tidy .
checks=$((checks + 1))
[ ! -e .together.h5.lock ] || fail "the lock file is left"

say "what a killed writer left goes with the next one"
touch .together.h5.00000000-1.tmp
try measure --output together.h5 m.ini $one propagator.light.solver=s
exits 0 "one more table"
tidy .

# ---- one identity, and what made it ----

say "rows that are there are not made again"
try measure --output spectrum.h5 m.ini $one
exits 0 "the first"
try measure --output spectrum.h5 m.ini $one $two
exits 0 "the first again, and another"
printed "$one: measure.loops of these links is in spectrum.h5 already" "$one: measure.pion of these links is in"
cp $one copy.h5
try measure --output spectrum.h5 m.ini copy.h5
exits 0 "a copy under another name"
printed "copy.h5: measure.pion of these links is in spectrum.h5 already"
if [ -n "$have_tools" ]; then
    text spectrum.h5 /configs/program >out
    printed "$("$plaq" --version)"
    text spectrum.h5 /inputs/1 >out
    printed "quark.light.kappa = 0.12" "measure.pion.kind = pion" "solver.s.tolerance = 1e-09"
    h5dump -a /measure/pion/identity spectrum.h5 >out
    printed "quark.kappa = 0.12" "lattice.time_boundary = antiperiodic" "solver.tolerance = 1e-09"
fi

# mixes KEY=VALUE TEXT...: refused, with the difference named.
mixes() {
    local word=$1
    shift
    cp spectrum.h5 before.h5
    try measure --output spectrum.h5 m.ini made/checkpoint-000003.h5 "$word"
    exits 2 "other rows, $word"
    printed "spectrum.h5: the rows of /measure/pion were made with other parameters:" "$@"
    checks=$((checks + 1))
    cmp -s spectrum.h5 before.h5 || fail "$word: the file has changed"
}
say "other parameters are refused by name"
mixes quark.light.kappa=0.125 "quark.kappa: 0.12 before, 0.125 now"
mixes quark.light.c_sw=1.5 "quark.c_sw: 1 before, 1.5 now"
mixes lattice.time_boundary=periodic "lattice.time_boundary: antiperiodic before, periodic now"
mixes source.origin.place=1.0.0.0 "source.place: 0.0.0.0 before, 1.0.0.0 now"
mixes solver.s.tolerance=1e-6 "solver.tolerance: 1e-09 before, 1e-06 now"
try measure --output spectrum.h5 m.ini made/checkpoint-000003.h5 solver.s.inner_precision=double machine.threads=1
exits 0 "the same numbers in another way"
[ -z "$have_tools" ] || same "its input is another" 2 "$(h5dump -d /configs/input spectrum.h5 | sed -n 's/.*: \(.*, \)*\([0-9]*\)$/\2/p')"
try measure --output spectrum.h5 loops.ini made/checkpoint-000003.h5 measure.loops.kind=flow
exits 2 "another observable under that name"
printed "spectrum.h5: /measure/loops is there already and has other columns"

say "a row a correlator, as in the history of a run"
if [ -n "$have_tools" ]; then
    # The same pion during a run and afterwards; and one of a longer lattice in the same file.
    cat gauge.ini m.ini >both.ini
    try run both.ini run.output=during run.trajectories=2 run.length=0.1 checkpoint.interval=1
    exits 0 "a pion during a run"
    try measure --output after.h5 m.ini during/checkpoint-00000[12].h5
    exits 0 "and afterwards"
    same "rows and times" "2 4 2, 4 2" "$(rows after.h5 pion) $(extent after.h5 measure/pion/t) $(extent after.h5 measure/pion/pion) $(extent after.h5 measure/pion/summary/residual)"
    for column in trajectory t pion summary/trajectory summary/residual; do
        same "$column" "$(values during/history.h5 measure/pion/$column)" "$(values after.h5 measure/pion/$column)"
    done
    same "configurations" "0 1 " "$(values after.h5 measure/pion/config)"
    try run both.ini run.output=during run.trajectories=3 run.length=0.1 checkpoint.interval=1 source.origin.place=1.0.0.0
    exits 0 "a run that continues with another source"
    printed "measurements differ since the checkpoint" "source.origin.place: 0.0.0.0 before, 1.0.0.0 now"
    try run both.ini run.output=during run.trajectories=4 run.length=0.1 checkpoint.interval=1 source.origin.place=1.0.0.0
    exits 0 "a run that continues with the same"
    [ "$(grep -c 'measurements differ' err)" = 0 ] || fail "measurements do not differ"
    try run gauge.ini run.output=longer run.trajectories=1 run.length=0.1 lattice.size=4.4.4.8
    exits 0 "a longer lattice"
    try measure --output after.h5 m.ini longer/checkpoint-000001.h5
    exits 0 "a longer lattice in the same file"
    same "rows and times" "3 8 3, 8" "$(rows after.h5 pion) $(extent after.h5 measure/pion/t) $(extent after.h5 measure/pion/pion)"
    same "what a shorter row lacks" 8 "$(h5dump -y -w 1 -d /measure/pion/pion after.h5 | grep -ci nan)"
fi

say "lattices of one volume and one digest"
for extents in "4 4 4 8" "8 4 4 4"; do
    cold=cold.$(echo $extents | tr -d ' ').nersc
    cold_nersc $extents >$cold
    try measure --output cold.h5 m.ini $cold
    exits 0 "cold links, $extents"
done
same "their digests" 1 "$(for f in cold.4448.nersc cold.8444.nersc; do "$plaq" check --json $f | sed 's/.*digest": "\([^"]*\).*/\1/'; done | sort -u | wc -l | tr -d ' ')"
try measure --output cold.h5 m.ini cold.8444.nersc
exits 0 "the second again"
printed "cold.8444.nersc: measure.loops of these links is in cold.h5 already"
if [ -n "$have_tools" ]; then
    same "rows" 2 "$(rows cold.h5 loops)"
    same "extents" "4 8 8 4 " "$(values cold.h5 configs/size_x)$(values cold.h5 configs/size_t)"
fi

say "plaq solve likewise"
try solve --output solves.h5 m.ini $one
exits 0 "a solve"
try solve --output solves.h5 m.ini $one
exits 0 "the same again"
printed "light.s of these links is in solves.h5 already, and is not stored again"
try solve --output solves.h5 m.ini $one solver.s.tolerance=1e-5
exits 2 "another tolerance"
printed "solves.h5: the rows of /solve/light.s were made with other parameters" "solver.tolerance: 1e-09 before, 1e-05 now"
try solve --output solves.h5 m.ini $one --source 0.0.0.0
exits 2 "another source"
printed "source: random before, 0.0.0.0 now"

# ---- what the file is ----

# no_table FILE WHAT: it is refused as an output, for what it is, and stays as it was.
no_table() {
    cp "$1" before
    for command in measure solve; do
        try $command --output "$1" m.ini $two
        exits 2 "$command into $2"
        printed "$1: the file is $2" "choose another name"
        checks=$((checks + 1))
        cmp -s "$1" before || fail "$1 has changed"
    done
}
say "outputs into files that are something else"
no_table $one "a checkpoint"
no_table made/history.h5 "the history of a run"
no_table m.ini "a text"
try convert $one lattice.h5
no_table lattice.h5 "a lattice file"
printf '\211HDF\r\n\032\n%0200d' 0 >foreign.h5
no_table foreign.h5 "an HDF5 file that plaq did not make"
cp spectrum.h5 broken.h5
flip broken.h5 3000
try measure --output broken.h5 m.ini $two
exits 2 "into a damaged file"
printed "broken.h5: the structure of the HDF5 file is damaged"
mkdir folder
ln -s nowhere/x dangling.h5
for target in folder dangling.h5 deleted/x.h5; do
    try measure --output $target m.ini $two
    exits 2 "--output $target"
    printed "$target: "
done
printed "deleted/x.h5: cannot be created: No such file or directory (the folder deleted)"
ln -s spectrum.h5 link.h5
try measure --output link.h5 m.ini made/checkpoint-000004.h5
exits 0 "through a link"
checks=$((checks + 1))
[ -L link.h5 ] || fail "the link is a file now"
[ -z "$have_tools" ] || same "rows behind the link" 4 "$(rows spectrum.h5 loops)"

say "plaq convert replaces lattice files alone"
# keeps FILE WHAT: it is not replaced, for what it is.
keeps() {
    cp "$1" before
    try convert --format ildg $two "$1"
    exits 2 "convert onto $2"
    printed "$1: the file is $2, and is not replaced"
    checks=$((checks + 1))
    cmp -s "$1" before || fail "$1 has changed"
}
keeps $one "a checkpoint"
keeps made/history.h5 "the history of a run"
keeps spectrum.h5 "a file of measurements"
keeps foreign.h5 "an HDF5 file that plaq did not make"
keeps m.ini "a text"
for ending in lime nersc h5; do
    try convert $one over.$ending
    exits 0 "a new file"
    try convert $two over.$ending
    exits 0 "a lattice file is replaced"
    same "digest" "$("$plaq" check --json $two | sed 's/.*digest": "\([^"]*\).*/\1/')" \
        "$("$plaq" check --json over.$ending | sed 's/.*digest": "\([^"]*\).*/\1/')"
done

# ---- a list with bad ones ----

say "a list goes on past what cannot be read"
cp $one damaged.h5
flip damaged.h5 50000
try measure --output list.h5 loops.ini nowhere.lime damaged.h5 m.ini $one folder $two
exits 1 "four bad ones of six"
printed "4 of 6 configurations were not measured:" "nowhere.lime: No such file" "damaged.h5: " "m.ini: first bytes" "folder: "
[ -z "$have_tools" ] || same "rows of the others" 2 "$(rows list.h5 loops)"
same "others on the screen" 2 "$(grep -c '^digest' out)"
try measure loops.ini nowhere.lime m.ini
exits 2 "nothing but bad ones"
printed "no configuration can be measured:" "nowhere.lime: " "m.ini: "

# ---- failures of the place ----

# each_failure NAME PATTERN FOLDER ALLOWED ARGUMENTS...: every call that creates, writes, closes, syncs, cuts or renames a
# file that matches, or makes such a folder, fails once. The program then ends with a status that is allowed and leaves no
# part of a file; $then runs after each. The folder is made anew before. Every third call is taken, all with PLAQ_CAMPAIGN.
each_failure() {
    local name=$1 pattern=$2 folder=$3 allowed=$4 kind n how positions=0 number=0
    shift 4
    rm -rf "$folder"
    mkdir "$folder"
    try_fault "$pattern" none 1 EIO "$@"
    exits 0 "$name"
    cp counts counted
    for kind in create write close fsync truncate rename mkdir; do
        for n in $(seq "$(sed -n "s/^$kind //p" counted)"); do
            number=$((number + 1))
            [ -n "${PLAQ_CAMPAIGN:-}" ] || [ $((number % 3)) -eq 0 ] || continue
            case $kind in close | fsync) how=EIO ;; *) how=ENOSPC ;; esac
            rm -rf "$folder"
            mkdir "$folder"
            try_fault "$pattern" $kind "$n" $how "$@"
            positions=$((positions + 1)) checks=$((checks + 1))
            case " $allowed " in *" $status "*) ;; *) fail "$name, $kind number $n fails: exit status $status" ;; esac
            if [ "$status" -ne 0 ]; then printed "error: "; fi
            tidy "$folder"
            $then "$name, after $kind number $n"
        done
    done
    say "  $name: $positions positions"
    checks=$((checks + 1))
    [ $positions -ge 3 ] || fail "$name: only $positions positions"
}
say "a write that fails, at every place"
small="run.output=failing/run run.trajectories=2 run.length=0.1 lattice.size=2.2.2.2 checkpoint.interval=1 save.interval=2"
try run --json gauge.ini $small run.output=unbroken
exits 0 "the unbroken run"
links=$(value digest) history=$(value history_digest)
goes_on() {
    try run --json gauge.ini $small
    exits 0 "$1, the same command"
    same "$1: links" "$links" "$(value digest)"
    same "$1: history" "$history" "$(value history_digest)"
    checks=$((checks + 1))
    [ -e failing/run/configurations/configuration-000002.lime ] || fail "$1: no configuration was kept"
}
then=goes_on each_failure run '*failing/*' failing "0 2 4" run gauge.ini $small
then=true each_failure measure '*failing/*' failing "0 2" measure --output failing/x.h5 loops.ini $one
for ending in lime nersc h5; do
    then=true each_failure "convert to $ending" '*failing/*' failing "0 2" convert $one failing/x.$ending
done

say "a file that may not grow"
(
    ulimit -f 60
    try run --json gauge.ini run.output=limited run.trajectories=2 run.length=0.1
    [ "$status" -eq 4 ] && grep -q "File too large" err
) || fail "EFBIG is not status 4"
checks=$((checks + 1))
tidy limited

say "closed descriptors, and a reader that goes away"
status=0
"$plaq" run gauge.ini run.output=closed run.trajectories=2 run.length=0.1 <&- >&- 2>&- || status=$?
exits 0 "a run without descriptors"
try check closed/checkpoint-000002.h5
exits 0 "its checkpoint"
status=0
{ "$plaq" measure loops.ini made/checkpoint-*.h5 2>err && echo $? >left; } | head -n 1 >/dev/null
same "status when nobody reads on" 0 "$(cat left)"
checks=$((checks + 1))
! grep -q "error" err || fail "an error when nobody reads on"

say "waits of threads"
env -u OMP_WAIT_POLICY OMP_DISPLAY_ENV=verbose "$plaq" --version >out 2>&1 </dev/null
printed "GOMP_SPINCOUNT = '1000'"
OMP_WAIT_POLICY=active OMP_DISPLAY_ENV=verbose "$plaq" --version >out 2>&1 </dev/null
printed "OMP_WAIT_POLICY = 'ACTIVE'"

say "a start that is refused leaves nothing"
try run gauge.ini run.output=refused/deep run.start=file run.config=nowhere.lime
exits 2 "no first configuration"
try run gauge.ini run.output=made run.length=0.1 gauge.beta=9 run.trajectories=9
exits 2 "other physics"
checks=$((checks + 1))
[ ! -e refused ] && [ ! -e made/plaq.lock ] || fail "a refused start left: $(ls -d refused made/plaq.lock 2>/dev/null)"
ln -s nowhere dangling
try run gauge.ini run.output=dangling
exits 2 "an output that is a dangling link"
printed "dangling: a symbolic link to nowhere, where no folder is"

say "a folder that is deleted under a run"
background "$plaq" run --json gauge.ini run.output=gone run.trajectories=100000 run.length=0.1 checkpoint.interval=1
for _ in $(seq 500); do
    [ -e gone/checkpoint-000001.h5 ] && break
    sleep 0.02
done
# A file that the run makes while the folder is emptied keeps the folder: until it is gone.
while [ -e gone ]; do rm -rf gone 2>/dev/null || true; done
status=0
wait $pid || status=$?
exits 4 "a folder deleted"
printed "gone/" "No such file or directory"
finish
