# A campaign of several configurations, sources and positions, with its propagators in files: two jobs that share list, rows and
# propagators, killed with kill -9 at random instants and begun again, end with the rows of one that nobody disturbed.
. "$(dirname "$0")/kit.bash"
RANDOM=51 # seeds the instants
kills_wanted=10
write_pure_gauge gauge.ini
try run gauge.ini run.output=made run.start=hot run.trajectories=4 run.length=0.1 checkpoint.interval=1 checkpoint.keep=9 lattice.size=4.4.4.8
exits 0 "four configurations"
list=$(echo made/checkpoint-00000[1-4].h5)
cat >m.ini <<'INI'
[quark.light]
kappa = 0.12
c_sw = 1
solver = multigrid
[solver.multigrid]
type = multigrid
tolerance = 1e-10
[solver.loose]
type = bicgstab
tolerance = 1e-2
[smearing.wide]
width = 1
steps = 3
[source.origin]
[source.sink]
kind = sequential
propagator = light
time = 3
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
[propagator.many]
quark = light
source = origin
rough_solver = loose
[measure.mesons]
kind = mesons
propagator = smeared
propagator_2 = light
operators = pseudoscalar vector
momentum2 = 1
[measure.current]
kind = mesons
propagator = back
propagator_2 = light
operators = pseudoscalar vector
pairs = all
[measure.nucleon]
kind = baryons
propagator = light
[measure.average]
kind = mesons
propagator = many
operators = pseudoscalar
positions = 3
exact_positions = 1
INI
files() { echo propagator.light.file=$1-light-%d.h5 propagator.smeared.file=$1-smeared-%d.h5 propagator.back.file=$1-back-%d.h5; }

say "undisturbed, without files"
begun=$(date +%s%N)
try measure --output whole.h5 m.ini $list
span=$((($(date +%s%N) - begun) / 1000000))
exits 0 "the undisturbed campaign"
# Exact passes at the origin and at a moved place have one solver.
same "set-ups of multigrid" 4 "$(cat out err | grep -c 'set-up of')"
printed "rows for whole.h5"
same "rows among the text" 0 "$(grep -cE '^ +[0-9]+ +[0-9]+ ' out)"

# Values of all measurements, a line for each row of a table, sorted: jobs add configurations in any order.
rows() {
    local column
    for column in {mesons,current,nucleon,average}/{real,imaginary}; do
        echo "$column"
        h5dump -y -m %.17g -w 0 -d /measure/$column "$1" | grep -E '^ *-?[0-9.]+(e[-+0-9]+)?,' | sed 's/, *$//' | sort
    done
    for column in {mesons,current,nucleon,average}/summary/{residual,iterations}; do
        echo "$column"
        h5dump -y -m %.17g -w 0 -d /measure/$column "$1" | grep -E '^ *[0-9.]+(e[-+0-9]+)?,' | tr -s ', ' '\n' | sort
    done
}

say "two jobs side by side, killed and begun again"
kills=0 rounds=0 left=1
while [ $left -gt 0 ]; do
    jobs=() left=0
    for part in 1/2 2/2; do
        "$plaq" measure --output cut.h5 --part $part m.ini $list $(files cut) >out.${part%/2} 2>&1 </dev/null &
        jobs+=($!)
    done
    if [ $kills -lt $kills_wanted ]; then
        nap $((RANDOM % (span * 2 / 10) + 20))
        for job in ${jobs[@]}; do
            if kill -9 $job 2>/dev/null; then kills=$((kills + 1)); fi
        done
    fi
    for job in ${jobs[@]}; do
        status=0
        { wait $job || status=$?; } 2>/dev/null
        case $status in
        0) ;;
        137) left=1 ;;
        *) cat out.1 out.2; fail "status $status of a job that was not killed" ;;
        esac
    done
    rounds=$((rounds + 1))
    span=$((span + span / 8))
    if [ $rounds -gt 40 ]; then fail "no end after $rounds rounds"; break; fi
done
say "$kills kills in $rounds rounds"
same "enough kills" yes "$([ $kills -ge 4 ] && echo yes)"
try check cut-light-1.h5 cut-smeared-2.h5 cut-back-3.h5
exits 0 "the files of propagators"
try measure --output cut.h5 m.ini $list $(files cut)
exits 0 "nothing is left to measure"
same "measurements that are there" 16 "$(grep -c 'already, and is not measured again' out)"
if command -v h5dump >/dev/null; then
    rows whole.h5 >one
    rows cut.h5 >other
    same "enough rows" yes "$([ $(grep -c . one) -gt 400 ] && echo yes)"
    cmp -s one other || fail "rows of the disturbed campaign differ"
fi
finish
