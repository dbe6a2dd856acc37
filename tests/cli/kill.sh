# A run killed with kill -9 at random instants and continued ends with the bits of an unbroken one, and loses no more than
# the trajectory in hand.
. "$(dirname "$0")/kit.bash"
write_input a.ini
RANDOM=20 # seeds the instants
goal=30
kills_wanted=20

say "the unbroken run"
begun=$(date +%s%N)
try run --json a.ini run.output=whole run.trajectories=$goal checkpoint.interval=1
span=$((($(date +%s%N) - begun) / 1000000))
exits 0 "the unbroken run"
links=$(value digest) rows=$(value history_digest)

# One piece of a run: killed after a random time unless it ended before; $ended tells.
piece() {
    local wait=$((RANDOM * 32768 + RANDOM))
    wait=$((wait % (span * 6 / 10) + 5))
    ended=1
    local pid
    background "$plaq" run --json a.ini "$@"
    nap $wait
    if kill -9 $pid 2>/dev/null; then ended=0; fi
    status=0
    # The shell reports the kill; that is no news.
    { wait $pid || status=$?; } 2>/dev/null
    [ $status -eq 137 ] && ended=0 || ended=1
    if [ $ended -eq 1 ]; then exits 0 "a piece"; fi
}

# What a piece had done when it was killed, and what the next one found.
last_done() { sed -n 's/^trajectory \([0-9]*\)\/.*/\1/p' err | tail -n 1; }
found_done() { sed -n 's/^continuing from .*: \([0-9]*\) trajectories done.*/\1/p' err | tail -n 1; }

kills=0 chain=0
while [ $kills -lt $kills_wanted ]; do
    chain=$((chain + 1)) ended=0 before= pieces=0
    while [ $ended -eq 0 ]; do
        piece run.output=chain.$chain run.trajectories=$goal checkpoint.interval=1
        pieces=$((pieces + 1))
        kills=$((kills + 1 - ended))
        found=$(found_done)
        if [ -n "$before" ] && [ -n "$found" ]; then
            checks=$((checks + 1))
            [ "$found" -ge $((before - 1)) ] || fail "trajectory $before was done, continued from $found"
        fi
        now=$(last_done)
        before=${now:-${found:-$before}}
    done
    # The load of the machine changes: keep the instants spread over what a run takes now.
    if [ $pieces -eq 1 ]; then span=$((span / 2 + 20)); elif [ $pieces -gt 8 ]; then span=$((span * 2)); fi
    say "chain $chain: $pieces pieces, $kills kills so far"
    same "links of chain $chain" "$links" "$(value digest)"
    same "history of chain $chain" "$rows" "$(value history_digest)"
    tidy chain.$chain
    if [ $chain -gt 60 ]; then fail "60 runs and only $kills kills"; break; fi
done

say "kills with checkpoints far apart"
try run --json a.ini run.output=far run.trajectories=$goal checkpoint.interval=7
exits 0 "checkpoints far apart"
same "links do not depend on the interval" "$links" "$(value digest)"
ended=0 pieces=0
while [ $ended -eq 0 ]; do
    piece run.output=rare run.trajectories=$goal checkpoint.interval=3
    pieces=$((pieces + 1))
    span=$((span + span / 8))
    if [ $pieces -gt 100 ]; then fail "no progress"; break; fi
done
same "links, $pieces pieces" "$links" "$(value digest)"
same "history, $pieces pieces" "$rows" "$(value history_digest)"

say "kills among measurements"
cp a.ini plain.ini
printf '\n[measure.loops]\nkind = loops\n[measure.flow]\nkind = flow\nflow_time = 1\nflow_step = 0.01\n' >>a.ini
begun=$(date +%s%N)
try run --json a.ini run.output=measured run.trajectories=10 checkpoint.interval=1
span=$((($(date +%s%N) - begun) / 1000000))
exits 0 "with measurements"
measured_links=$(value digest) measured_rows=$(value history_digest)
ended=0 pieces=0
while [ $ended -eq 0 ]; do
    piece run.output=cut run.trajectories=10 checkpoint.interval=1
    pieces=$((pieces + 1))
    span=$((span + span / 8))
    if [ $pieces -gt 60 ]; then fail "no progress"; break; fi
done
same "links, $pieces pieces" "$measured_links" "$(value digest)"
same "history with measurements, $pieces pieces" "$measured_rows" "$(value history_digest)"
mv plain.ini a.ini

if [ -n "${PLAQ_MPIEXEC:-}" ] && command -v pgrep >/dev/null; then
    say "one of two ranks is killed"
    export OMP_NUM_THREADS=1
    for trial in 1 2 3; do
        background $PLAQ_MPIEXEC -n 2 "$plaq" run --json a.ini run.output=ranks run.trajectories=$goal checkpoint.interval=1
        nap $((RANDOM % 2000 + 200))
        # mpiexec may have ended, or not yet begun its children.
        ranks=$(pgrep -P $pid 2>/dev/null || true)
        for rank in $ranks; do
            kill -9 $rank 2>/dev/null || true
            break
        done
        { wait $pid || true; } 2>/dev/null
    done
    try_ranks 1 run --json a.ini run.output=ranks run.trajectories=$goal checkpoint.interval=1
    exits 0 "the rest, on one rank"
    same "links after killed ranks" "$links" "$(value digest)"
    same "history after killed ranks" "$rows" "$(value history_digest)"

    say "one of four ranks hangs"
    hangs 4 run.trajectories=$goal
    try_ranks 1 run --json a.ini run.output=hung run.trajectories=$goal checkpoint.interval=1
    exits 0 "the rest, on one rank"
    same "links after a rank that hung" "$links" "$(value digest)"
    tidy hung
fi
finish
