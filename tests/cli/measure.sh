# plaq measure: all configurations are looked at before any is measured; what JSON says of each.
. "$(dirname "$0")/kit.bash"
write_pure_gauge gauge.ini
printf '[measure.loops]\nkind = loops\n' >m.ini
try run gauge.ini run.output=made run.trajectories=4 checkpoint.interval=2
exits 0 "two configurations"
good=made/checkpoint-000002.h5

say "a configuration that is not there, and one that is none, before good ones"
try measure --output rows.h5 m.ini nowhere.lime $good m.ini made/checkpoint-000004.h5
exits 2 "two bad ones"
printed "nowhere.lime: " "m.ini" "Nothing was measured"
checks=$((checks + 1))
[ ! -e rows.h5 ] && ! grep -q plaquette out || fail "it has measured"
try measure m.ini bad=1.lime $good
exits 2 "a name with an equals sign"
printed "bad=1.lime: "
try measure m.ini $good lattice.size=4.4.4.8
exits 2 "another size"
printed "[lattice] size = 4.4.4.8, but $good has 4.4.4.4"

say "JSON"
try measure --json m.ini $good made/checkpoint-000004.h5
exits 0 "measure"
same "objects" 4 "$(wc -l <out)"
rectangle=$(sed -n '1s/.*"rectangle": *\([^,}]*\).*/\1/p' out)
same "rectangle of the configuration and of its loops" "$rectangle" "$(sed -n '2s/.*"rectangle": *\([^,}]*\).*/\1/p' out)"
finish
