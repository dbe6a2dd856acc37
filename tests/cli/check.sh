# plaq check, and what plaq reads: verdicts and exit statuses, files that are no regular files, messages.
. "$(dirname "$0")/kit.bash"
write_pure_gauge a.ini

try run --json a.ini run.output=seed run.trajectories=1
exits 0 "a configuration to check"
for ending in h5 hdf5 nersc lime ildg; do
    try convert seed/checkpoint-000001.h5 good.$ending
    exits 0 "convert to .$ending"
done

say "verdicts"
try check good.h5 good.nersc good.lime
exits 0 "whole files"
same "whole files" 3 "$(grep -c ': whole$' out)"
cp good.h5 bent.h5
printf X | dd of=bent.h5 bs=1 seek=20000 conv=notrunc status=none
try check bent.h5 good.h5
exits 1 "a damaged file before a whole one"
printed "bent.h5: DAMAGED" "good.h5: whole"
try check nowhere bent.h5 good.h5
exits 2 "a missing, a damaged and a whole file"
printed "nowhere: CANNOT BE CHECKED" "No such file" "bent.h5: DAMAGED" "good.h5: whole"
try check --json nowhere
exits 2 "a missing file, --json"
same "verdict" unchecked "$(value verdict)"
same "digest" null "$(value digest | tr -d ' ')"

say "a lattice that plaq does not have"
{
    printf 'BEGIN_HEADER\nDATATYPE = 4D_SU3_GAUGE_3x3\nDIMENSION_1 = 3\nDIMENSION_2 = 4\nDIMENSION_3 = 4\nDIMENSION_4 = 4\n'
    printf 'CHECKSUM = 0\nLINK_TRACE = 0.0\nPLAQUETTE = 0.0\nFLOATING_POINT = IEEE64BIG\nEND_HEADER\n'
    head -c $((3 * 4 * 4 * 4 * 576)) /dev/zero
} >odd.nersc
try check odd.nersc good.nersc
exits 2 "an odd extent"
printed "odd.nersc: CANNOT BE CHECKED" "3.4.4.4, even extents" "good.nersc: whole"
if [ -n "${PLAQ_MPIEXEC:-}" ]; then
    say "a number of ranks that the lattice does not allow"
    export OMP_NUM_THREADS=1
    try_ranks 3 check good.h5 good.nersc
    exits 2 "three ranks"
    printed "good.h5: CANNOT BE CHECKED" "good.nersc: CANNOT BE CHECKED" "3 ranks cannot share a lattice of 4.4.4.4"
    checks=$((checks + 1))
    ! grep -q DAMAGED out || fail "three ranks: called damage"
    export OMP_NUM_THREADS=2
fi

say "a format without a checksum"
# MILC old: magic, extents, two parameters; unit links in single precision.
one='\0\0\200\077' no='\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'
{
    printf '\332\347\0\0\4\0\0\0\4\0\0\0\4\0\0\0\4\0\0\0\0\0\260\100\315\314\314\075'
    for _ in $(seq 1024); do printf "$one$no$one$no$one\0\0\0\0"; done
} >unit.old
try check unit.old
exits 0 "MILC old"
printed "none in this format, so only coarse damage can be found"
try check --json unit.old
same "checksum_ok without one" null "$(value checksum_ok | tr -d ' ')"
try check --json good.nersc
same "checksum_ok that is right" true "$(value checksum_ok)"
try check good.nersc
printed "checksum     right"

say "bytes that are no text"
printf 'BEGIN_HEADER\n\033[2J\377 gr\303\274n\nEND_HEADER\n' >bytes.nersc
try check bytes.nersc
exits 1 "a header of wild bytes"
printed '\x1b[2J\xff' "grün"
checks=$((checks + 1))
! LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\377]')" out || fail "raw bytes of the file"

# ---- neither regular nor there ----

mkfifo fifo
# refused WHAT ARGUMENTS: status 2, and within 20 seconds: the program must not wait for somebody to write.
refused() {
    local what=$1
    shift
    say "$what"
    status=0
    timeout 20 "$plaq" "$@" </dev/null >out 2>err || status=$?
    exits 2 "$what"
}
while read -r file kind; do
    refused "$kind as input file" run $file
    printed "$file" "$kind, not a regular file"
    refused "$kind to check" check $file
    printed "$file: CANNOT BE CHECKED" "$kind, not a regular file"
    refused "$kind to convert" convert $file x.h5
    printed "$kind, not a regular file"
    refused "$kind to start from" run a.ini run.start=file run.config=$file
    printed "$kind, not a regular file"
    refused "$kind to measure" measure a.ini $file
    printed "$kind, not a regular file"
    refused "$kind to measure into" measure --output $file a.ini good.h5
    printed "$file: the file is $kind, and is not replaced"
done <<'LIST'
fifo a FIFO
seed a directory
/dev/zero a device
LIST
checks=$((checks + 1))
[ -p fifo ] || fail "the FIFO is gone"
rm -rf out.run
say "a FIFO among the checkpoints"
cp -r seed among
rm among/plaq.lock 2>/dev/null || true
mkfifo among/checkpoint-000009.h5
status=0
timeout 60 "$plaq" run --json a.ini run.output=among run.trajectories=2 </dev/null >out 2>err || status=$?
exits 0 "continued from the one before"
printed "no checkpoint, trying the one before" "a FIFO, not a regular file" "continuing from among/checkpoint-000001.h5"

# ---- converting ----

say "files that cannot be created"
: >file
for ending in h5 nersc lime; do
    refused "no such folder" convert good.h5 nowhere/x.$ending
    printed "nowhere/x.$ending: cannot be created: No such file or directory"
    refused "below a file" convert good.h5 file/x.$ending
    printed "file/x.$ending: cannot be created: Not a directory"
    mkdir folder.$ending
    refused "in place of a folder" convert good.h5 folder.$ending
    printed "folder.$ending: the file is a directory, and is not replaced"
done
refused "a table in no folder" measure --output nowhere/x.h5 a.ini good.h5
printed "nowhere" "No such file or directory"
if [ "$(id -u)" -ne 0 ]; then
    mkdir closed
    chmod a-w closed
    refused "a closed folder" convert good.h5 closed/x.h5
    printed "closed/x.h5: cannot be created: Permission denied"
    refused "a table in a closed folder" measure --output closed/x.h5 a.ini good.h5
    printed "closed/x.h5: cannot be created: Permission denied"
fi
refused "no such ending" convert good.h5 x.cfg
printed "x.cfg names no format" "ildg (.lime .ildg), scidac (.scidac), nersc (.nersc), hdf5 (.h5 .hdf5), milc (.milc)"
refused "no such format" convert --format nersk good.h5 x
printed "'nersk' cannot be written" "did you mean nersc?"
tidy .

# ---- temporary files ----

say "a run leaves the temporary files of others alone"
cp -r seed shared
touch shared/.flow.h5.00000000-1.tmp shared/.checkpoint-000005.h5.00000000-1.tmp shared/.history.h5.00000000-1.tmp
try run --json a.ini run.output=shared run.trajectories=2
exits 0 "a run beside a measurement"
same "left" ".flow.h5.00000000-1.tmp" "$(ls -A shared | grep tmp)"
finish
