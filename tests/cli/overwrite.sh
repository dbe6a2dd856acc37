# Outputs and what stands under their names: every command that writes a file, onto every kind of file. What is not the
# command's own kind is refused before any work, and keeps its bytes; what is, is appended to or made anew.
. "$(dirname "$0")/kit.bash"
write_pure_gauge gauge.ini
try run gauge.ini run.output=made run.trajectories=2 run.length=0.1 save.interval=1
exits 0 "a run"
config=made/checkpoint-000002.h5
cat >m.ini <<'INI'
[quark.light]
kappa = 0.12
solver = s

[solver.s]
type = cg
tolerance = 1e-5

[measure.loops]
kind = loops
INI
printf '[measure.pion]\nkind = pion\npropagator = p\n[propagator.p]\nquark = light\nsource = s\n[source.s]\n' | cat m.ini - >pions.ini
try measure --output pions.h5 pions.ini $config
exits 0 "a pion"
cp "$source/inputs/transform.ini" transform.ini
quick="quark.light.Ls=4 solver.blocks.block=4.4.4.2 solver.blocks.steps=2 solver.cg.tolerance=1e-3
    solver.trained.tolerance=1e-3 solver.all_slices.tolerance=1e-3 --mu 0.3 --steps 1 --vectors 1 --every 2"

# write_with COMMAND FILE: the command writes onto the file.
write_with() {
    # shellcheck disable=SC2086 # settings are words
    case $1 in
    convert) try convert --format ildg $config "$2" ;;
    fix) try fix --gauge coulomb --tolerance 0.5 --format ildg $config "$2" ;;
    measure) try measure --output "$2" m.ini $config ;;
    solve) try solve --output "$2" m.ini $config ;;
    eigen) try eigen --pairs 4 --block 2 --output "$2" m.ini $config ;;
    train) try train transform.ini $config $quick solver.fewer.transform="$2" ;;
    report) try report --output "$2" made ;;
    effective) try effective --output "$2" pions.h5 ;;
    calibrate) try bench --lattice 4.4.4.4 --seconds 0.001 --calibrate "$2" ;;
    esac
}
commands="convert fix measure solve eigen train report effective calibrate"

say "a file that is not there"
for command in $commands; do
    write_with $command own.$command
    exits 0 "$command, a new file"
done
tidy .
# The tuner, which needs a GPU, asks the same function (hmc/tuning).
printf '# plaq tuning 3, some GPU\n' >own.tune
mv own.convert own.lime
try fix --gauge coulomb --tolerance 0.5 --format ildg --transformation own.transformation $config own.lime
exits 0 "a gauge transformation"

# ---- every command onto every file ----

printf 'some words\n' >text.txt
: >empty
head -c 3000 /dev/urandom >bytes
mkdir folder
printf '\211HDF\r\n\032\n%0200d' 0 >foreign.h5
printf '<!DOCTYPE html>\n<html><head><title>no report</title></head></html>\n' >page.html
cp own.eigen damaged.h5
flip damaged.h5 3000
ln -s ../made/history.h5 folder/link.h5
[ -e fifo ] || mkfifo fifo
files="made/checkpoint-000001.h5:a_checkpoint $config:is made/history.h5:the_history_of_a_run
    made/history.journal:the_journal_of_a_run's_history made/configurations.tsv:the_index_of_a_run's_configurations
    made/configurations/configuration-000001.lime:is m.ini:a_text gauge.ini:a_text text.txt:a_text empty:an_empty_file
    bytes:of_a_kind_that_plaq_does_not_know folder:a_directory fifo:a_FIFO foreign.h5:an_HDF5_file_that_plaq_did_not_make
    page.html:a_text damaged.h5: folder/link.h5:the_history_of_a_run own.lime:a_lattice_file
    own.measure:a_file_of_measurements own.solve:a_file_of_measurements own.eigen:eigenvectors_of_an_operator
    own.train:a_transform_of_the_fifth_dimension own.report:a_page_of_plaq_report own.effective:a_page_of_plaq_effective own.calibrate:a_calibration_of_plaq_bench
    own.tune:a_file_of_the_tuner own.transformation:a_gauge_transformation"

# takes COMMAND FILE: the command may write there.
takes() {
    case "$1 $2" in
    "convert own.lime" | "fix own.lime" | "measure own.measure" | "measure own.solve" | "solve own.measure" | "solve own.solve" | \
        "train own.train" | "report own.report" | "effective own.effective" | "calibrate own.calibrate") return 0 ;;
    esac
    return 1
}
sums() { find . -type f ! -name out ! -name err ! -name before ! -name after -exec sha256sum {} + | sort -k 2; }

sums >before
for command in $commands; do
    say "$command onto every kind of file"
    for entry in $files; do
        file=${entry%%:*} what=${entry#*:}
        write_with $command "$file"
        if takes $command "$file"; then
            exits 0 "$command onto $file"
            sums >before
            continue
        fi
        exits 2 "$command onto $file"
        [ "$what" = is ] && what=
        printed "$file: the " "$(echo "$what" | tr _ ' ')"
        [ "$file" = damaged.h5 ] || printed "and is not replaced; choose another name, or remove it"
        sums >after
        checks=$((checks + 1))
        cmp -s before after || fail "$command onto $file changed: $(diff before after | tail -n 1)"
        checks=$((checks + 1))
        [ -p fifo ] && [ -d folder ] && [ -L folder/link.h5 ] || fail "$command onto $file replaced what is no file"
    done
done
tidy .

say "kept configurations, and the one that is read"
kept=made/configurations/configuration-000001.lime
try convert $config $kept
exits 2 "convert onto a kept configuration"
printed "$kept: the file is a configuration that a run keeps, and is not replaced"
cp $kept free.lime
try convert $config free.lime
exits 0 "convert onto a copy of it elsewhere"
try convert --format ildg free.lime free.lime
exits 2 "convert onto its input"
printed "free.lime: the file is the one that is read, and is not replaced"
ln free.lime same.lime
try convert --format ildg free.lime same.lime
exits 2 "convert onto its input under another name"

say "work does not begin"
# The configuration is not looked at: the output is refused before.
for command in measure solve eigen train; do
    config=nowhere.h5
    write_with $command text.txt
    exits 2 "$command"
    printed "text.txt: the file is a text"
done
config=made/checkpoint-000002.h5

say "pages of a run"
cp made/report.html page
cp text.txt made/report.html
try report made
exits 2 "a report over a text of that name"
printed "made/report.html: the file is a text"
same "the text" "some words" "$(cat made/report.html)"
try run gauge.ini run.output=made run.trajectories=3 run.length=0.1 save.interval=1
exits 0 "a run there goes on"
printed "the report is not written: made/report.html: the file is a text"
rm made/report.html
printf 'a\tb\n1\t2\n' >made/configurations.tsv
try run gauge.ini run.output=made run.trajectories=4 run.length=0.1 save.interval=1
exits 2 "an index that is none"
printed "made/configurations.tsv: is no index of the configurations of a run; move it away"
same "the text that is no index" 2 "$(wc -l <made/configurations.tsv | tr -d ' ')"

say "a test of the folder that a killed run left"
rm made/configurations.tsv
touch made/configurations/.write-test.00000000-1.tmp made/.write-test.00000000-1.tmp
try run gauge.ini run.output=made run.trajectories=4 run.length=0.1 save.interval=1
exits 0 "the run goes on"
tidy made

say "digests of 32-bit links"
try convert --bits 32 $config single.lime
exits 0 "a file of 32 bits"
digest() { "$plaq" "$@" 2>/dev/null | sed -n 's/.*"digest": *"\([^"]*\).*/\1/p' | head -n 1; }
same "digest by check and by measure" "$(digest check --json single.lime)" "$(digest measure --json m.ini single.lime)"

say "one transform for two sections"
sed 's/trained/other/; s/fewer/fewer2/' transform.ini | sed -n '/solver.other/,$p' | grep -v '^$' >more
sed -n '/^\[solver.other/,/^\[solver.blocks/p' more | sed '$d' >two
cat transform.ini two | sed 's/preconditioner = fewer2*$/&/' >both.ini
# shellcheck disable=SC2086
printf '[measure.p]\nkind = pion\npropagator = p\n[propagator.p]\nquark = light\nsolver = other\nsource = s\n[source.s]\n' >>both.ini
try train both.ini $config $quick solver.other.preconditioner=fewer2
exits 2 "two sections with one file"
printed "is that of [solver.fewer], too; give each a file of its own"
finish
