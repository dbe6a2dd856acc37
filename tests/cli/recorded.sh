# Files whose plaquette is not the one that they record: every command that reads configurations refuses them, and goes on
# when it is told to. Links that are not in SU(3), and what convert makes of both.
. "$(dirname "$0")/kit.bash"
write_input a.ini
cat >>a.ini <<'INI'

[measure.loops]
kind = loops
interval = 1
INI

try run --json a.ini run.output=seed run.trajectories=1 run.start=hot
exits 0 "a configuration"
try convert seed/checkpoint-000001.h5 good.nersc
exits 0 "as NERSC"
# Without the CRC of the header the averages are all that guards what the links are.
averages() { LC_ALL=C sed -e '1,/^END_HEADER/{' -e '/^HEADER_CRC32/d' -e "s/^$1 = .*/$1 = $2/" -e '}' good.nersc; }
averages PLAQUETTE 0.123456789012 >plaquette.nersc
averages LINK_TRACE 0.123456789012 >trace.nersc
averages NOTHING 0 >plain.nersc

say "no CRC of the header"
try check plain.nersc
exits 0 "a NERSC file of others"
try check good.nersc
exits 0 "a NERSC file of ours"
LC_ALL=C sed -e 's/^SEQUENCE_NUMBER = 1/SEQUENCE_NUMBER = 2/' good.nersc >number.nersc
try check number.nersc
exits 1 "another trajectory number"
printed "the header is damaged: its CRC-32"

# commands FILE: what reads a configuration, one a line.
commands() {
    cat <<LIST
measure a.ini $1
solve a.ini $1
verify a.ini $1
convert $1 copy.nersc
run a.ini run.start=file run.config=$1 run.trajectories=1
run --dry-run a.ini run.start=file run.config=$1
verify a.ini run.start=file run.config=$1
LIST
}

for file in plaquette trace; do
    what=$([ $file = plaquette ] && echo plaquette || echo "link trace")
    say "$what: check"
    try check $file.nersc
    exits 1 "check"
    printed "$file.nersc: DAMAGED" "$what is 0." "the file says 0.123456789012"
    commands $file.nersc >list
    while read -r line; do
        say "$what: $line"
        rm -rf out.run
        try $line
        case $line in measure*) exits 1 "$line" ;; *) exits 2 "$line" ;; esac # a list that has such a file
        printed "$file.nersc: $what is 0." "the file says 0.123456789012" "--ignore-recorded"
        checks=$((checks + 2))
        [ ! -e copy.nersc ] || fail "$line: a copy was written"
        [ -z "$(ls out.run/*.h5 2>/dev/null)" ] || fail "$line: a run was begun"
        try $line --ignore-recorded
        exits 0 "$line --ignore-recorded"
        printed "warning: $file.nersc: $what is 0." "the file says 0.123456789012" "as --ignore-recorded says"
        if [ "${line%% *}" = convert ]; then
            try check copy.nersc
            exits 0 "a copy records what is computed"
            rm copy.nersc
        fi
    done <list
done

say "an option without effect"
try run a.ini --ignore-recorded
exits 2 "--ignore-recorded without a file"
printed "--ignore-recorded is for the file of [run] start = file"
again="run.start=file run.config=plaquette.nersc --ignore-recorded run.output=again"
try run a.ini $again run.trajectories=1
exits 0 "from the file"
try run a.ini $again run.trajectories=2
exits 0 "continuing"
printed "continuing from again/checkpoint-000001.h5" "--ignore-recorded has no effect"

say "trajectory numbers go with the links"
from=seed/checkpoint-000001.h5
for to in lime nersc h5; do
    try convert $from kept.$to
    exits 0 "$from as $to"
    try check --json kept.$to
    same "trajectory of kept.$to" 1 "$(value sequence)"
    from=kept.$to
done

if [ -d "$data" ]; then
    say "links that are not in SU(3)"
    try convert "$data/fat.l8" fat.lime
    exits 0 "fat links with a checksum"
    printed "warning: $data/fat.l8: the links are not in SU(3)" "copied as they are, since the checksum is right"
    try check fat.lime
    exits 0 "a copy of fat links"
    say "open boundaries"
    file=$data/openQCD_qcd1_ob_L8T8_b12.0_c1.1329_k0.07n1
    try check "$file"
    exits 0 "a file with open boundaries"
    printed "remark       open boundaries in time" "recorded: right" "links are in SU(3)"
    printf '[measure.loops]\nkind = loops\n' >loops.ini
    try measure loops.ini "$file"
    exits 1 "a measurement on it"
    printed "open boundaries in time: all links in time of the last time slice are zero"
    write_pure_gauge ob.ini
    try run ob.ini lattice.size=8.8.8.8 run.start=file run.config="$file" run.output=ob
    exits 2 "a run from it"
    printed "open boundaries in time" "give [lattice] time_boundary = open"
    printf '[measure.slices]\nkind = flow_slices\n[measure.loops]\nkind = loops\n' >>ob.ini
    try measure --json ob.ini "$file" lattice.size=8.8.8.8 lattice.time_boundary=open
    exits 0 "a measurement with open time"
    printed "2190.91234503" "2972.2361042" "2205.28966189" '"charge": -0.32066549'
    try run --json ob.ini lattice.size=8.8.8.8 lattice.time_boundary=open run.start=file run.config="$file" run.output=ob \
        run.trajectories=1 gauge.beta=12
    exits 0 "a run from it with open time"
    try convert "$file" ob.openqcd
    exits 0 "a copy of it"
    printed "warning: $file: open boundaries in time"
    checks=$((checks + 1))
    cmp -s "$file" ob.openqcd || fail "the copy differs"
    file=$data/openQCD_qcd1_pb_L8T8_b6.0_c1.234_k0.13_r0_id4n1
    cp "$file" off.openqcd
    chmod u+w off.openqcd
    poke off.openqcd 100008 0 0 0 0 0 0 0x44 0x40
    try convert --ignore-recorded off.openqcd off.lime
    exits 2 "a link off the group and no checksum"
    printed "off.openqcd" "nothing was written"
    checks=$((checks + 1))
    [ ! -e off.lime ] || fail "a copy was written"
else
    say "left out for want of $data: fat links"
fi
tidy .
finish
