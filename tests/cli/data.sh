# The recorded configurations: all are read and found whole, keep their bits through every format, and start dynamical runs
# that are the same on one rank and on four.
. "$(dirname "$0")/kit.bash"
[ -d "$data" ] || { echo "skipped: no folder $data (PLAQ_TEST_DATA)"; exit 77; }
write_input a.ini

# file, format, lattice, plaquette and link trace as others recorded them
cat >recorded <<'LIST'
lat.sample.l8888 milc 8,8,8,8 0.593560240433 -0.000645638620
lat.sample.l4444 milc 4,4,4,4 0.594850158947 0.646758737419
lat.sample.l4444.ildg ildg 4,4,4,4 0.594850158947 0.646758737419
lat.sample.l4444.scidac scidac 4,4,4,4 0.594850158947 0.646758737419
lat.sample.l4448 milc 4,4,4,8 0.569055724369 0.069216590061
lat.sample.l4448.scidac scidac 4,4,4,8 0.569055724369 0.069216590061
lat.sample.l4448.gf milc 4,4,4,8 0.569055725854 0.751466183829
lat.sample.l6666.hisq milc 6,6,6,6 0.616691003407 0.168664636348
lat.sample.inst milc-old 4,4,4,4 0.991009270758 0.991627751151
lat.sample.l8 scidac 8,8,8,8 0.873640874413 0.965058851974
nersc.l8t4b3360 nersc 8,8,8,4 0.503866446950 0.005406083858
ildg.l8t4b3360 ildg 8,8,8,4 0.503866446950 0.005406083858
chroma.t_nersc.cfg nersc 4,4,4,4 0.038242289324 0.463032209838
qlua.random-gauge.lime ildg 4,4,4,8 0.994764948926 0.379317698946
qlua.random-gauge.nersc nersc 4,4,4,8 0.994764948926 0.379317698946
quenched-8888-b6.0.nersc nersc 8,8,8,8 0.592431699204 0.003552633848
openQCD_qcd1_pb_L8T8_b6.0_c1.234_k0.13_r0_id4n1 openqcd 8,8,8,8 0.001669681144 -0.000022162127
LIST

# near WHAT A B TOLERANCE
near() {
    checks=$((checks + 1))
    awk -v a="$2" -v b="$3" -v t="$4" 'BEGIN { d = a - b; exit !(a != "" && b != "" && d <= t && d >= -t) }' || fail "$1: $2 and $3"
}

listed=0
while read -r file format size plaquette trace; do
    [ -e "$data/$file" ] || { fail "no $file"; continue; }
    listed=$((listed + 1))
    say "check $file"
    try check --json "$data/$file"
    exits 0 "check $file"
    same "verdict" whole "$(value verdict)"
    same "format" $format "$(value format)"
    checks=$((checks + 1))
    tr -d ' ' <out | grep -qF "\"size\":[$size]" || fail "size $size"
    # The digits given; sources of single precision carry seven.
    near "plaquette" "$(value plaquette)" $plaquette 2e-9
    near "link trace" "$(value link_trace)" $trace 2e-9
    digest=$(value digest)
    # There and back through all formats that are written.
    from=$data/$file
    for to in h5 nersc ildg; do
        try convert "$from" kept.$to
        exits 0 "convert $file to $to"
        printed "$digest"
        try check --json kept.$to
        exits 0 "check of $file as $to"
        same "digest of $file as $to" "$digest" "$(value digest)"
        from=kept.$to
    done
done <recorded
for file in fat.l8 long.l8; do
    say "check $file: fat links, whole, not in SU(3)"
    try check --json "$data/$file"
    exits 0 "check $file"
    same "verdict" whole "$(value verdict)"
    same "unitary" false "$(value unitary)"
done
tidy .

say "all files in one call"
try check $(cut -d' ' -f1 recorded | sed "s|^|$data/|")
exits 0 "check of all"
same "verdicts" $listed "$(grep -c ': whole$' out)"

say "formats with the same links have the same digest"
digest_of() { "$plaq" check --json "$data/$1" | sed 's/.*"digest": *"\([0-9a-f]*\)".*/\1/'; }
same "l4444 as MILC and ILDG" "$(digest_of lat.sample.l4444)" "$(digest_of lat.sample.l4444.ildg)"
same "l4444 as MILC and SciDAC" "$(digest_of lat.sample.l4444)" "$(digest_of lat.sample.l4444.scidac)"
same "l4448 as MILC and SciDAC" "$(digest_of lat.sample.l4448)" "$(digest_of lat.sample.l4448.scidac)"

# In the memory lines of plaq: bytes before the words that follow.
kib() { sed -n "s/.*memory[: ]*\([0-9.]*\) \([KMG]iB\) a rank.*/\1 \2/p" "$1" | tail -n 1 |
    awk '{ print $1 * ($2 == "KiB" ? 1 : $2 == "MiB" ? 1024 : 1048576) }'; }

short="run.trajectories=1 run.length=0.1 integrator.0.steps=1 run.start=file"
while read -r file size; do
    say "a dynamical run from $file"
    try run --dry-run a.ini $short run.config="$data/$file" lattice.size=$size
    exits 0 "dry run"
    printed "lattice $size on grid 1.1.1.1" "memory" "checkpoint" "cost" "everything is in order, nothing was run"
    checks=$((checks + 1))
    [ ! -e out.run ] || fail "a dry run has made a folder"
    predicted=$(kib err)
    [ -n "$predicted" ] || predicted=$(kib out)
    OMP_NUM_THREADS=2 try run --json a.ini $short run.config="$data/$file" lattice.size=$size run.output=$file.1
    exits 0 "one rank"
    links=$(value digest) rows=$(value history_digest)
    used=$(kib err)
    near "memory predicted within a fifth" "$(awk -v a="$used" -v b="$predicted" 'BEGIN { print a / b }')" 1 0.2
    if [ -n "${PLAQ_MPIEXEC:-}" ]; then
        OMP_NUM_THREADS=1 try_ranks 4 run --json a.ini $short run.config="$data/$file" lattice.size=$size run.output=$file.4
        exits 0 "four ranks"
        same "links on four ranks" "$links" "$(value digest)"
        same "history on four ranks" "$rows" "$(value history_digest)"
    fi
done <<'LIST'
lat.sample.l8888 8.8.8.8
nersc.l8t4b3360 8.8.8.4
ildg.l8t4b3360 8.8.8.4
LIST
say "a HISQ run from a lattice of MILC's, with the gauge action that it was made with"
try run --json "$source/inputs/hisq-2plus1plus1.ini" run.start=file run.config="$data/lat.sample.l6666.hisq" lattice.size=6.6.6.6 \
    gauge.beta=7.4 gauge.u0=0.89 gauge.flavours=3 run.output=hisq run.trajectories=2 run.warmup=0 run.length=0.1 integrator.0.steps=1 \
    integrator.1.steps=2 measure.condensate.interval=2 measure.condensate.vectors=2
exits 0 "HISQ from lat.sample.l6666.hisq"
same "trajectories" 2 "$(value trajectories)"
near "dH of short steps" "$(value exp_dh)" 1 0.1
# In a tenth of a unit of time the links do not go far from the recorded 0.616691.
near "plaquette" "$(value plaquette)" 0.6167 0.01
near "memory predicted within a fifth" "$(awk -v a="$(value memory_peak)" -v b="$(value memory_predicted)" 'BEGIN { print a / b }')" 1 0.2
say "an asqtad run from a lattice of MILC's"
try run --json "$source/inputs/asqtad-2plus1.ini" run.start=file run.config="$data/lat.sample.l4448.gf" lattice.size=4.4.4.8 \
    run.output=asqtad run.trajectories=2 run.warmup=0 run.length=0.1 integrator.0.steps=1 integrator.1.steps=2 \
    measure.condensate.interval=2 measure.condensate.vectors=2
exits 0 "asqtad from lat.sample.l4448.gf"
same "trajectories" 2 "$(value trajectories)"
near "dH of short steps" "$(value exp_dh)" 1 0.1
near "memory predicted within a fifth" "$(awk -v a="$(value memory_peak)" -v b="$(value memory_predicted)" 'BEGIN { print a / b }')" 1 0.2
say "the wrong size"
try run --dry-run a.ini $short run.config="$data/nersc.l8t4b3360" lattice.size=8.8.8.8
exits 2 "another size"
printed "8.8.8.4" "8.8.8.8"
finish
