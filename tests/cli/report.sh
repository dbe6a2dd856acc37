# plaq report: the page and the summary of a run that ended, was killed, goes on; stretches of parameters; folders that hold no
# run. Averages are those of the run.
. "$(dirname "$0")/kit.bash"
write_pure_gauge a.ini
printf '\n[save]\ninterval = 10\n\n[measure.flow]\nkind = flow\nflow_time = 0.2\nflow_step = 0.05\ninterval = 5\n' >>a.ini
small="run.length=0.5 integrator.0.steps=3 checkpoint.interval=10"

# One page: whole, and nothing in it that a browser would fetch.
is_page() {
    checks=$((checks + 4))
    [ "$(head -c 15 "$1")" = "<!DOCTYPE html>" ] && [ "$(tail -n 1 "$1")" = "</body></html>" ] || fail "$1 is no whole page"
    ! grep -qE 'https?://|src=|href=|url\(|@import|<script' "$1" || fail "$1 needs other files"
    ! grep -qiE '[^a-z](nan|inf)[^a-z]' "$1" || fail "$1 has numbers that are none"
    for tag in svg figure table details div; do
        [ "$(grep -o "<$tag[ >]" "$1" | wc -l)" = "$(grep -o "</$tag>" "$1" | wc -l)" ] || fail "$1: <$tag> is not closed"
    done
}
# Column N of the line of the summary that begins with a word.
cell() { awk -v word="$1" -v n="$2" '$1 == word { print $n; exit }' out; }

say "a run writes its page at its end"
try run --json a.ini $small run.output=whole run.trajectories=60 run.warmup=10
exits 0 "the run"
printed "report: whole/report.html"
is_page whole/report.html
plaquette=$(value plaquette)
error=$(value plaquette_error)
acceptance=$(value acceptance)
for text in "60 of 60" "Distribution of dH" "Acceptance by windows" "flow charge" "What to change" "Stretches" \
    "configurations/configuration-000060.lime" "run.seed = 11"; do
    checks=$((checks + 1))
    grep -qF "$text" whole/report.html || fail "not on the page: $text"
done

say "the summary has the averages of the run"
rm whole/report.html
try report whole
exits 0 "the report"
is_page whole/report.html
printed "whole: 60 of 60 trajectories; averages over 50 from trajectory 11 on" "configurations kept  6" "page: whole/report.html"
same "plaquette" "$(printf %.8g "$plaquette")" "$(cell plaquette 2)"
same "its error" "$(printf %.3g "$error")" "$(cell plaquette 3)"
same "acceptance" "$(printf %.8g "$acceptance")" "$(cell accepted 2)"
same "rows of the flow" 10 "$(cell measure/flow 8)"
same "digest" "$(awk '$1 == 60 { print substr($3, 1, 16) }' whole/configurations.tsv)" \
    "$(sed -n 's/^configurations kept.*digest \([0-9a-f]*\).*/\1/p' out)"
try report whole --output page.html
exits 0 "another file"
is_page page.html
try report whole --output nowhere/page.html
exits 2 "a page in no folder"
printed "nowhere"

say "windows in which all is accepted, of any length"
for n in 21 25 50 99; do
    try run a.ini run.length=0.1 integrator.0.steps=4 checkpoint.interval=100 run.output=all$n run.trajectories=$n run.warmup=1 \
        measure.flow.interval=100
    exits 0 "$n trajectories"
    is_page all$n/report.html
done

say "when the page is written"
try run a.ini $small run.output=without run.report=no
exits 0 "no page"
checks=$((checks + 2))
[ ! -e without/report.html ] || fail "a page with report = no"
try run a.ini $small run.output=often run.report=sometimes
exits 2 "an unknown time"
printed "no, end or checkpoints"
background "$plaq" run a.ini $small run.output=often run.report=checkpoints run.trajectories=100000
for _ in $(seq 500); do
    [ ! -e often/report.html ] || break
    sleep 0.02
done
[ -e often/report.html ] || fail "no page at a checkpoint"

say "a run that goes on is looked at, and not touched"
sleep 0.5
kill -STOP $pid
before=$(find often -type f | sort | xargs sha256sum)
try report often --output going.html
exits 0 "a run that goes on"
is_page going.html
same "the folder" "$before" "$(find often -type f | sort | xargs sha256sum)"
done=$(sed -n 's/^often: \([0-9]*\) of 100000 .*/\1/p' out)
checks=$((checks + 1))
[ "${done:-0}" -ge 10 ] || fail "$done trajectories"
printed "time left"

say "a run that was killed"
kill -9 $pid
{ wait $pid || true; } 2>/dev/null
try report often
exits 0 "a killed run"
printed "often: $done of 100000"
is_page often/report.html
rm often/history.journal
try report often
exits 0 "a killed run without its journal"

say "stretches: what acts on acceptance begins one, and acceptance restarts; averages of physics go on"
try run --json a.ini $small run.output=two run.trajectories=20
exits 0 "the first stretch"
same "its number" 1 "$(value stretch)"
try run --json a.ini $small run.output=two run.trajectories=30 machine.threads=1 measure.flow.interval=10
exits 0 "nothing that acts on acceptance"
same "the same stretch" 1 "$(value stretch)"
same "averages go on" 1 "$(value averages_from)"
try run --json a.ini $small run.output=two run.trajectories=45 integrator.0.steps=2
exits 0 "other steps"
printed "parameter block 2 begins with trajectory 31: acceptance, <exp(-dH)> and times, not averages of physics, restart" \
    "over 45 from trajectory 1 on" "over 15 from trajectory 31 on, in parameter block 2"
same "a new one" 2 "$(value stretch)"
same "acceptance restarts" 31 "$(value acceptance_from)"
same "averages of physics do not" 1 "$(value averages_from)"
acceptance=$(value acceptance)
try report two
exits 0 "the report of both"
printed "averages over 45 from trajectory 1 on," "of acceptance, dH, forces, iterations and times from 31 on, in parameter block 2" "1: trajectories 1 - 30, acceptance" \
    "2: trajectories 31 - 45, acceptance $(printf %.3f "$acceptance")" "integrator.0.steps: 3 before, 2 now" "in 3 sessions"
grep -q "run.trajectories" out && fail "what does not matter is listed as a change" || checks=$((checks + 1))
try run --json a.ini $small run.output=two run.trajectories=49 integrator.0.steps=2 gauge.beta=5.8 --accept-changes
exits 0 "other physics"
same "a third" 3 "$(value stretch)"
same "averages of other physics" 46 "$(value averages_from)"
printed "parameter block 3 begins with trajectory 46: all averages restart"
try report two --from 10
exits 0 "from a trajectory of other physics"
printed "averages over 4 from trajectory 46 on" "averages begin with trajectory 46, not with 10: the physics was another one before"
try report two --from 0
exits 2 "no trajectory"
printed "plaq report: --from 0: expected the number of a trajectory, from 1"
try report whole --from 41
exits 0 "averages from a trajectory"
printed "averages over 20 from trajectory 41 on"

say "a stretch whose checkpoints are gone is gone"
rm two/checkpoint-000049.h5
try run --json a.ini $small run.output=two run.trajectories=49 integrator.0.steps=2
exits 0 "back to the second"
same "the second" 2 "$(value stretch)"
same "its first trajectory" 31 "$(value acceptance_from)"
same "physics of the first" 1 "$(value averages_from)"

say "a run that an alarm ended: its page says so, and what to change"
try run --json a.ini $small run.output=alarm run.trajectories=20 watch.dh=stop watch.dh_limit=1e-6
exits 4 "an alarm"
try report alarm
exits 0 "its report"
printed "the last session stopped: after trajectory 1: |dH| is" "above 1e-06; [watch] dh = stop" \
    "[watch] raised alarms in the last session: dh 1" "raise the steps of [integrator.N]"
grep -q "The last session stopped: after trajectory 1" alarm/report.html || fail "not on the page"
is_page alarm/report.html
try run --json a.ini $small run.output=alarm run.trajectories=2
exits 0 "it goes on"
try report alarm
grep -q "stopped" out && fail "an alarm of a session before the last" || checks=$((checks + 1))

say "rows that are missing are told, and averages are of the others"
try run --json a.ini $small run.output=holes run.trajectories=20
cp -r holes lost
bytes=$(stat -c %s holes/history.journal)
flip lost/history.journal $((bytes * 2 / 3))
flip lost/history.h5 4000
try report lost
exits 0 "journal and file damaged"
rows=$(sed -n 's/.*the history has rows of \([0-9]*\) of the 20 trajectories done.*/\1/p' out)
printed "lost: 20 of 20 trajectories; averages over $rows" "number $((rows + 1))-20 are missing" \
    "history.journal is damaged from byte" "history.h5"
grep -q "rows of $rows of the 20 trajectories" lost/report.html || fail "not on the page"
try report holes
grep -q "missing" out && fail "a whole history lacks nothing" || checks=$((checks + 1))

say "folders without a run"
mkdir empty
try report empty
exits 2 "an empty folder"
printed "empty: no run has left a history here"
try report nowhere
exits 2 "no folder"
printed "nowhere: No such file"
try report a.ini
exits 2 "a file"
printed "a.ini: not a folder"
try report
exits 2 "no argument"
try run a.ini $small run.output=begun run.trajectories=0
exits 0 "a run of no trajectory"
try report begun
exits 0 "its report"
printed "begun: 0 of 0 trajectories"
is_page begun/report.html
finish
