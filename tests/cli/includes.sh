# Who includes whom: every #include of the tree against the table of rooms.
. "$(dirname "$0")/kit.bash"

# Room of the including file (the first match), then the rooms and folders that it may include from, but for those with a !
# in front: of GPUs the rooms above know kernels/base/device.h. What is not of this tree, <system.h>, is free, but for the
# headers below.
below="io/ solvers/ operators/ kernels/ !kernels/gpu/"
# folders ROOM BELOW: rows of the folders of a room, each with those of the room that it may include from, and what all of them
# may. Arrows between folders go one way: a folder names such that stand above it in the list.
folders() {
    local room=$1 below=$2 folder names n known=" "
    while read -r folder names; do
        for n in $names; do
            case $known in *" $n "*) ;; *) fail "$room/$folder names $n, which is not above it" >&2 ;; esac
        done
        known="$known$folder "
        echo "$room/$folder $room/$folder/ $(for n in $names; do echo -n "$room/$n/ "; done)$below"
    done
}
folders hmc "$below" >rooms <<'LIST'
tell
input
quarks      input
sources     input
actions     quarks input tell
observables
integrate   actions tell
watch       integrate
assemble    observables watch integrate actions quarks sources input tell
measure     assemble observables quarks sources input tell
record      measure assemble watch integrate input tell
report      record assemble integrate sources tell
bench       assemble actions quarks
plan        bench report record measure assemble integrate actions quarks tell
command     plan bench report record measure assemble watch integrate actions quarks sources input tell
LIST
# The lattice knows no field, fields no kernel, and kernels no backend: cpu and gpu have functions that are declared in folders
# above them.
folders kernels "" >>rooms <<'LIST'
base
lattice base
field   lattice base
site    field lattice
family  site field lattice
run     family field lattice base
cpu     run family lattice base
gpu     run family field lattice base
ops     run family field lattice base
LIST
cat >>rooms <<'LIST'
io/files        io/files/ kernels/ !kernels/gpu/
io/input        io/input/ io/files/ kernels/ !kernels/gpu/
io/links        io/links/ io/files/ kernels/ !kernels/gpu/
io/history      io/history/ io/links/ io/files/ kernels/ !kernels/gpu/
operators       operators/ kernels/ !kernels/gpu/
solvers         solvers/ operators/ kernels/ !kernels/gpu/
hmc             hmc/ io/ solvers/ operators/ kernels/ !kernels/gpu/
tests/reference tests/reference/ tests/check.h
tests           tests/ hmc/ io/ solvers/ operators/ kernels/
LIST
# Header of a library, and the only folder whose files include it.
cat >libraries <<'LIST'
mpi.h          kernels/lattice/
mpi-ext.h      kernels/lattice/
cuda_runtime.h kernels/gpu/
cuda.h         kernels/gpu/
nccl.h         kernels/gpu/
hdf5.h         io/
ini.h          io/input/
LIST

# violations TREE: lines "file:line: what", none when all is well.
violations() {
    (cd "$1" && find kernels io operators solvers hmc tests -type f \
        \( -name '*.c' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' -o -name '*.def' \) -print |
        sort | xargs grep -nE '^[[:space:]]*#[[:space:]]*(include|import)') |
        awk -v rooms="$work/rooms" -v libraries="$work/libraries" '
            BEGIN {
                while ((getline line <rooms) > 0) {
                    n = split(line, w, " ")
                    order[++count] = w[1]
                    for (i = 2; i <= n; i++) allowed[w[1], ++most[w[1]]] = w[i]
                }
                while ((getline line <libraries) > 0) {
                    split(line, w, " ")
                    only[w[1]] = w[2]
                }
            }
            function starts(text, with) { return substr(text, 1, length(with)) == with }
            function report(what) { print place ": " what }
            {
                file = $0
                sub(/:.*/, "", file)
                rest = substr($0, length(file) + 2)
                number = rest
                sub(/:.*/, "", number)
                place = file ":" number
                if (!match(rest, /[<"][^>"]*[>"]/)) { report("an include that names no file"); next }
                name = substr(rest, RSTART + 1, RLENGTH - 2)
                base = name
                sub(/.*\//, "", base)
                if (base in only && (name !~ /\// || substr(rest, RSTART, 1) == "<")) {
                    if (!starts(file, only[base])) report("<" name "> stands in " only[base] " only")
                    next
                }
                if (name ~ /(^|\/)\.\.?\//) { report("\"" name "\" is not named from the root of the tree"); next }
                of_tree = name ~ /^(kernels|io|operators|solvers|hmc|tests|inputs)\//
                if (!of_tree && substr(rest, RSTART, 1) == "<") next
                room = ""
                for (i = 1; i <= count && room == ""; i++) if (starts(file, order[i] "/")) room = order[i]
                # A name without a folder is a neighbour.
                if (!of_tree) { folder = file; sub(/[^\/]*$/, "", folder); name = folder name }
                may = 0
                for (i = 1; i <= most[room]; i++) {
                    place_of = allowed[room, i]
                    if (starts(place_of, "!")) may = may && !starts(name, substr(place_of, 2))
                    else may = may || starts(name, place_of)
                }
                if (may) next
                report(room "/ may not include " name)
            }'
}

# Circles between files of a folder that stay, by one include of each, and why.
cat >circles <<'LIST'
kernels/base/error kernels/base/log      a fatal error is a line of the log, and the log requires things
kernels/gpu/gpu    kernels/gpu/shape     gpu.h is the face of the backend for its own files, too
kernels/gpu/gpu    kernels/gpu/transport likewise
operators/linop    operators/local       linop_local() makes the restricted operator inside blocks of any other
solvers/solver     solvers/eigen         a solver deflates with eigenpairs, which are found with solvers' block algebra
LIST

# circles TREE: lines "tsort: FILE" of each circle between files of a folder, none when there is none. NAME.c and NAME.h are
# one file; a header alone is a part of the sources that include it.
circles() {
    (cd "$1" && find kernels io operators solvers hmc -type f \( -name '*.c' -o -name '*.cu' \) | sed 's/\.[a-z]*$//' | sort) >files
    (cd "$1" && find kernels io operators solvers hmc -type f -name '*.[ch]*' | sort |
        xargs grep -HE '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"](kernels|io|operators|solvers|hmc)/') |
        sed -nE 's/^([^:]*):.*[<"]([^">]*)[">].*/\1 \2/p' |
        awk -v files=files -v circles="$work/circles" '
            BEGIN {
                while ((getline line <files) > 0) source[line] = 1
                while ((getline line <circles) > 0) { split(line, w, " "); known[w[1] " " w[2]] = 1 }
            }
            function folder(name) { sub(/[^\/]*$/, "", name); return name }
            {
                by_source = $1 ~ /\.cu?$/
                sub(/\.[a-z]+$/, "", $1)
                sub(/\.[a-z]+$/, "", $2)
                if ($1 == $2 || folder($1) != folder($2) || ($1 " " $2) in known) next
                if (!by_source || $2 in source) print $1, $2
            }' | tsort 2>&1 >tsorted || true
}

say "the tree"
violations "$source" >found
checks=$((checks + 1))
[ ! -s found ] || { cat found; fail "$(grep -c . found) includes against the rules"; }
checks=$((checks + 1))
circles "$source" >found
checks=$((checks + 1))
[ ! -s found ] || { cat found; fail "a circle between files"; }
checks=$((checks + 1))
[ "$(cd "$source" && grep -rlE '^ *# *include' kernels io operators solvers hmc tests | grep -c .)" -gt 100 ] ||
    fail "hardly any file was looked at"

# ---- the test of this test: violations made in a copy ----

mkdir copy
(cd "$source" && tar -cf - kernels io operators solvers hmc tests) | tar -C copy -xf -

# planted FILE INCLUDE WHAT: one more line of that file is found, at its place; without it the copy is as it was.
planted() {
    local file=$1 include=$2 what=$3 line
    say "$file: $include"
    cp copy/$file kept
    printf '%s\n' "$include" >>copy/$file
    line=$(grep -c '' copy/$file)
    violations copy >found
    checks=$((checks + 2))
    grep -qF "$file:$line: " found || fail "not found: $include in $file"
    grep -F "$file:$line: " found | grep -qF "$what" || fail "not said: $what"
    same "violations" 1 "$(grep -c . found)"
    cp kept copy/$file
}
planted kernels/ops/vector.c '#include "io/links/links.h"' "may not include io/links/links.h"
planted kernels/site/hop.h '#include "operators/linop.h"' "kernels/site/ may not include operators/linop.h"
planted kernels/lattice/lattice.c '#include "kernels/gpu/gpu.h"' "kernels/lattice/ may not include kernels/gpu/gpu.h"
planted kernels/field/field.h '#include "kernels/run/profile.h"' "kernels/field/ may not include kernels/run/profile.h"
planted kernels/ops/wilson.c '#include "kernels/site/hop.h"' "kernels/ops/ may not include kernels/site/hop.h"
planted hmc/assemble/parameters.c '#include "hmc/measure/measure.h"' "hmc/assemble/ may not include hmc/measure/measure.h"
planted io/links/links.c '#include "operators/wilson.h"' "io/links/ may not include operators/wilson.h"
planted io/files/seal.c '#include "io/links/links.h"' "io/files/ may not include io/links/links.h"
planted io/files/atomic.h '  #  include "hmc/record/record.h" // why' "io/files/ may not include hmc/record/record.h"
planted operators/wilson.c '#include <solvers/reliable.h>' "operators/ may not include solvers/reliable.h"
planted operators/linop.h '#include "io/input/ini.h"' "operators/ may not include io/input/ini.h"
planted solvers/cg.c '#include "hmc/actions/action.h"' "solvers/ may not include hmc/actions/action.h"
planted solvers/solvers.def '#include "io/links/links.h"' "solvers/ may not include io/links/links.h"
planted hmc/quarks/quark.c '#include "hmc/actions/action.h"' "hmc/quarks/ may not include hmc/actions/action.h"
planted hmc/integrate/integrator.h '#include "hmc/assemble/simulation.h"' "hmc/integrate/ may not include hmc/assemble/simulation.h"
planted hmc/main.c '#include "tests/check.h"' "hmc/ may not include tests/check.h"
planted hmc/main.c '#include "kernels/gpu/gpu.h"' "hmc/ may not include kernels/gpu/gpu.h"
planted solvers/cg.c '#include <kernels/gpu/fault.h>' "solvers/ may not include kernels/gpu/fault.h"
planted hmc/main.c '#include "../io/links/links.h"' "not named from the root"
planted tests/reference/ref_su3.c '#include "kernels/base/error.h"' "tests/reference/ may not include kernels/base/error.h"
planted io/files/atomic.c '#include <mpi.h>' "<mpi.h> stands in kernels/lattice/ only"
planted kernels/ops/gauge.c '#include "mpi.h"' "<mpi.h> stands in kernels/lattice/ only"
planted kernels/gpu/none.c '#include <mpi.h>' "<mpi.h> stands in kernels/lattice/ only"
planted kernels/run/kernel.c '#include <cuda_runtime.h>' "<cuda_runtime.h> stands in kernels/gpu/ only"
planted kernels/lattice/comm.c '#include <nccl.h>' "<nccl.h> stands in kernels/gpu/ only"
planted hmc/record/record.c '#include <hdf5.h>' "<hdf5.h> stands in io/ only"
planted tests/io/test_links.c '#include <hdf5.h>' "<hdf5.h> stands in io/ only"
planted hmc/assemble/parameters.c '#include <ini.h>' "<ini.h> stands in io/input/ only"
planted hmc/record/record.h '#include REPORT_HEADER' "names no file"
violations copy >found
checks=$((checks + 1))
[ ! -s found ] || { cat found; fail "the copy is not as it was"; }

# planted_circle FILE INCLUDE OTHER...: with one more line of that file the circle of the files is found.
planted_circle() {
    local file=$1 include=$2
    say "$file: $include"
    cp copy/$file kept
    printf '%s\n' "$include" >>copy/$file
    circles copy >found
    shift 2
    for other in "$@"; do
        checks=$((checks + 1))
        grep -qx "tsort: $other" found || fail "no circle of $other"
    done
    cp kept copy/$file
}
planted_circle kernels/lattice/decomposition.c '#include "kernels/lattice/lattice.h"' kernels/lattice/decomposition kernels/lattice/lattice
planted_circle hmc/measure/low_store.h '#include "hmc/measure/propagator.h"' hmc/measure/low_store hmc/measure/propagator
planted_circle solvers/solver.h '#include "solvers/multishift.h"' solvers/multishift solvers/solver
finish
