# A small campaign of damage against the program itself: seeded flips of bits and truncations of files of all formats, checked
# in one call a format, and some of them given to every command that reads configurations. All exit statuses are those of the
# README, and no command but check goes on with a damaged file. PLAQ_CAMPAIGN=N makes N flips and N cuts a file.
. "$(dirname "$0")/kit.bash"
write_pure_gauge a.ini
cat >>a.ini <<'INI'

[measure.loops]
kind = loops
INI
RANDOM=20240613
number=${PLAQ_CAMPAIGN:-12}

try run a.ini run.output=seed run.trajectories=1
exits 0 "a configuration"
cp seed/checkpoint-000001.h5 hdf5
for format in ildg scidac nersc milc openqcd; do
    try convert --format $format hdf5 $format
    exits 0 "convert to $format"
done
files="hdf5 ildg scidac nersc milc openqcd"
if [ -d "$data" ]; then
    for file in lat.sample.l4444 lat.sample.l4444.ildg lat.sample.l4444.scidac lat.sample.inst chroma.t_nersc.cfg \
        qlua.random-gauge.lime; do
        cp "$data/$file" $file
        chmod u+w $file
        files="$files $file"
    done
else
    say "only what plaq writes, for want of $data"
fi

random() { echo $(((RANDOM << 15 | RANDOM) % $1)); }

# documented WHAT STATUS...: the last command has ended with one of these, and with a message if it is not 0.
documented() {
    local what=$1 s
    shift
    checks=$((checks + 1))
    for s; do [ "$status" -ne "$s" ] || return 0; done
    fail "$what: exit status $status, allowed are $*"
}

for file in $files; do
    bytes=$(stat -c %s $file)
    say "$file: $number flips in the first kilobytes, $number anywhere, $number cuts"
    mkdir hurt
    for n in $(seq 1 "$number"); do
        for where in 2048 "$bytes"; do
            at=$(random "$where") bit=$(random 8)
            cp $file hurt/flip-$at-$bit
            byte=$(od -An -tu1 -j $at -N 1 $file)
            poke hurt/flip-$at-$bit $at $((byte ^ 1 << bit))
        done
        at=$(random "$bytes")
        head -c $at $file >hurt/cut-$at
    done
    try check --json hurt/*
    documented "check" 0 1 2 7
    same "one line a file" "$(ls hurt | grep -c .)" "$(grep -c '^{.*}$' out)"
    # Of files that plaq wrote every byte is guarded, but for the last bits of links in openQCD's format, which has no checksum; of
    # others links with a checksum, lengths and structure are, and free text is not.
    grep '"verdict": *"whole"' out | sed 's/.*"file": *"\([^"]*\)".*/\1/' >unseen || true
    checks=$((checks + 1))
    ! grep -q cut- unseen || fail "$file: whole though cut: $(grep cut- unseen | head -n 3 | tr '\n' ' ')"
    case $file in
    hdf5 | ildg | scidac | nersc | milc)
        checks=$((checks + 1))
        [ ! -s unseen ] || fail "$file: flips that do not show: $(head -n 3 unseen | tr '\n' ' ')"
        ;;
    esac
    shown=$(ls hurt/* | grep -vxFf unseen | grep -v 'cut-0$' | shuf -n 3 --random-source="$file")
    for hurt in $shown; do
        verdict=$("$plaq" check --json $hurt 2>/dev/null | sed 's/.*"verdict": *"\([^"]*\)".*/\1/') || true
        # An odd file is read with a warning, all others are refused; a list that has one ends with 1.
        [ "$verdict" = odd ] && allowed="0 2" || allowed=2
        for command in "measure a.ini $hurt" "convert $hurt copy.lime" \
            "run a.ini run.start=file run.config=$hurt run.output=none --dry-run"; do
            try $command
            case $command in
            measure*) documented "$command ($verdict)" $allowed 1 ;;
            *) documented "$command ($verdict)" $allowed ;;
            esac
        done
    done
    rm -rf hurt
done
tidy .
finish
