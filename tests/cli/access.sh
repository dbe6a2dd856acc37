# Files that are healthy and cannot be opened or read: locks held by others, permissions, failing disks, interrupted and short
# reads. None of it is called damage, and no older checkpoint is taken for the newest.
. "$(dirname "$0")/kit.bash"
write_pure_gauge a.ini
cat >>a.ini <<'INI'

[measure.loops]
kind = loops
INI

try run a.ini run.output=seed run.trajectories=2 checkpoint.interval=1
exits 0 "checkpoints"
for ending in lime nersc; do
    try convert seed/checkpoint-000002.h5 good.$ending
    exits 0 "convert to .$ending"
done
newest=seed/checkpoint-000002.h5
cp $newest good.h5

# not_damage WHAT TEXT...: the last command has named what is wrong, and has not called it damage.
not_damage() {
    local what=$1
    shift
    printed "$@"
    checks=$((checks + 1))
    ! grep -qiE 'damaged|DAMAGED' out err || fail "$what: called damage"
}

# ---- locks ----

if command -v flock >/dev/null; then
    say "a lock held by another process"
    flock -x $newest sleep 60 &
    holder=$!
    flock -x good.h5 sleep 60 &
    other=$!
    # Until it is held.
    while flock -n -x $newest true || flock -n -x good.h5 true; do sleep 0.05; done
    try check good.h5
    exits 0 "check of a locked file"
    printed "good.h5: whole"
    try measure a.ini good.h5
    exits 0 "measure on a locked file"
    try convert good.h5 copy.h5
    exits 0 "convert of a locked file"
    cp -r seed locked
    flock -x locked/checkpoint-000002.h5 sleep 60 &
    third=$!
    while flock -n -x locked/checkpoint-000002.h5 true; do sleep 0.05; done
    try run a.ini run.output=locked run.trajectories=3
    exits 0 "a run that goes on from a locked checkpoint"
    printed "continuing from locked/checkpoint-000002.h5"
    kill $holder $other $third
    wait $holder $other $third 2>/dev/null || true
fi
say "a file system without locks"
try_fault '*good.h5' lock 1+ ENOLCK check good.h5
exits 0 "check without locks"

# ---- opening and reading ----

# some N: numbers from 1 to N, five of them and the last two, or all where PLAQ_CAMPAIGN is set.
some() { [ -n "${PLAQ_CAMPAIGN:-}" ] && seq 1 "$1" || { seq 1 $(($1 / 5 + 1)) "$1"; seq $(($1 - 1)) "$1"; } | sort -nu; }

for file in good.h5 good.lime good.nersc; do
    for fault in "open EACCES:Permission denied" "open EIO:Input/output error" "read EIO:Input/output error" \
        "stat ESTALE:Stale file handle"; do
        why=${fault#*:} how=${fault%%:*}
        say "$file: $how"
        call=${how% *} errno=${how#* }
        try_fault "*$file" $call 1+ $errno check $file
        exits 2 "check"
        not_damage "check" "$file: CANNOT BE CHECKED" "$why"
        [ "$call" = read ] || continue
        try_fault "*$file" $call 1+ $errno measure a.ini $file
        exits 2 "measure"
        not_damage "measure" "$file" "$why"
        try_fault "*$file" $call 1+ $errno run a.ini run.start=file run.config=$file run.output=none
        exits 2 "run"
        not_damage "run" "$file" "$why"
    done
    say "$file: each reading fails once"
    try_fault "*$file" none 1 EIO check $file
    exits 0 "reads are counted"
    reads=$(calls read)
    same "some are" yes "$([ "$reads" -ge 3 ] && echo yes)"
    for n in $(some "$reads"); do
        try_fault "*$file" read "$n" EIO check $file
        exits 2 "reading $n of $reads"
        not_damage "reading $n" "CANNOT BE CHECKED" "Input/output error"
    done
    say "$file: interrupted and short reads"
    for how in EINTR short; do
        for n in $(some "$reads"); do
            try_fault "*$file" read "$n" $how check $file
            exits 0 "$how at reading $n of $reads"
        done
    done
done
try check gone/x.lime
exits 2 "no such file"
not_damage "no such file" "No such file or directory"

# ---- the newest checkpoint ----

for fault in "open EACCES:Permission denied" "read EIO:Input/output error" "stat ESTALE:Stale file handle"; do
    why=${fault#*:} how=${fault%%:*}
    say "the newest checkpoint: $how"
    rm -rf again
    cp -r seed again
    before=$(cd again && ls -l --time-style=full-iso *.h5 *.journal)
    try_fault '*again/checkpoint-000002.h5' ${how% *} 1+ ${how#* } run a.ini run.output=again run.trajectories=3
    exits 2 "a run"
    not_damage "a run" "again/checkpoint-000002.h5" "$why" "It may be good" "move it away to go on from the one before"
    same "the folder" "$before" "$(cd again && ls -l --time-style=full-iso *.h5 *.journal)"
    try run a.ini run.output=again run.trajectories=3
    exits 0 "when it can be read again"
    printed "continuing from again/checkpoint-000002.h5"
done
say "the history of a run"
rm -rf again
cp -r seed again
rows=$(od -An -tx1 again/history.journal | cksum)
for how in EACCES EIO; do
    for call in open read; do
        try_fault '*again/history.journal' $call 1+ $how run a.ini run.output=again run.trajectories=3
        exits 2 "a journal, $call $how"
        not_damage "a journal, $call $how" "again/history.journal"
        same "the journal" "$rows" "$(od -An -tx1 again/history.journal | cksum)"
    done
done
mv again/history.journal .
try_fault '*again/history.h5' read 1+ EIO run a.ini run.output=again run.trajectories=3
exits 2 "history.h5 without its journal"
not_damage "history.h5" "again/history.h5" "Input/output error"
say "moved away by the user"
rm -rf again
cp -r seed again
mv again/checkpoint-000002.h5 aside.h5
try run a.ini run.output=again run.trajectories=3
exits 0 "from the one before"
printed "continuing from again/checkpoint-000001.h5"
say "a link to a file system that is not there"
rm -rf again
cp -r seed again
ln -sf /nowhere/checkpoint-000003.h5 again/checkpoint-000003.h5
try run a.ini run.output=again run.trajectories=3
exits 2 "a dangling link"
not_damage "a dangling link" "again/checkpoint-000003.h5: No such file or directory" "It may be good"

# ---- files of plaq that are no lattices ----

say "what else a run writes"
try measure --output table.h5 a.ini good.h5
exits 0 "tables"
try check seed/history.h5 table.h5
exits 2 "a history and tables"
not_damage "a history" "seed/history.h5: CANNOT BE CHECKED" "the history of a run, no lattice file" \
    "table.h5: CANNOT BE CHECKED" "a file of measurements, no lattice file"
try check seed/history.journal
exits 2 "a journal"
not_damage "a journal" "the journal of a run's history"

say "files that do not say their size"
# The record of the links alone: of ours, that is the sixth.
skip=$(grep -abo 'ildg-binary-data' good.lime | head -n 1 | cut -d: -f1)
tail -c +$((skip - 15)) good.lime | head -c $((144 + 4 * 4 * 4 * 4 * 576)) >alone.lime
poke alone.lime 6 0xc0
try check alone.lime
exits 2 "no size"
printed "does not say the size of its lattice" "--size"
try check --size 4.4.4.4 alone.lime
exits 0 "--size"
printed "alone.lime: whole" "ildg, 4.4.4.4, 64 bits"
try check --size 4.4.4.6 alone.lime
exits 2 "another --size"
for size in 4.4.4 4.4.4.4.4 0.4.4.4 4.4.4.5 x -4.4.4.4; do
    try check --size $size alone.lime
    exits 2 "--size $size"
    printed "--size $size is no lattice"
done
try convert --size 4.4.4.4 alone.lime sized.lime
exits 0 "convert --size"
try check sized.lime
exits 0 "a copy that says its size"
try measure a.ini alone.lime
exits 0 "measure with [lattice] size"
try run a.ini run.start=file run.config=alone.lime run.trajectories=1 run.output=sized
exits 0 "run with [lattice] size"
sed '/^\[lattice\]/,/^size/d' a.ini >b.ini
try measure b.ini alone.lime
exits 2 "measure without"
printed "give it by [lattice] size"

say "odd files"
LC_ALL=C sed -e '/^HEADER_CRC32/d' -e 's/^HDR_VERSION = 1.0/HDR_VERSION = 1.1/' good.nersc >odd.nersc
try check odd.nersc
exits 7 "an odd file"
printed "odd.nersc: ODD" "HDR_VERSION = 1.1"
head -c 3000 good.nersc >cut.nersc
try check odd.nersc cut.nersc good.nersc
exits 1 "an odd, a damaged and a whole file"
try check odd.nersc nowhere
exits 2 "an odd file and none"
tidy .
finish
