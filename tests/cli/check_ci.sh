# .ci/run around a `make check` that does nothing: the warning about time, the hard stop, the exit status.
. "$(dirname "$0")/kit.bash"

unset MAKEFLAGS MAKELEVEL MFLAGS
mkdir -p tree/.ci
printf '#!/bin/sh\n' >tree/.ci/setup.sh
chmod +x tree/.ci/setup.sh
printf 'check:\n\t@sleep $(SLEEP); exit $(END)\n' >tree/Makefile

# ci TARGET LIMIT SLEEP END: .ci/run with these times, around such a make check.
ci() {
    sed -e "s/^target=.*/target=$1/" -e "s/^limit=.*/limit=$2/" "$source/.ci/run" >tree/.ci/run
    status=0
    SLEEP=$3 END=$4 bash tree/.ci/run >out 2>err || status=$?
}
say "the times of .ci/run: a target, and a stop behind it"
checks=$((checks + 1))
target=$(sed -n 's/^target=//p' "$source/.ci/run")
limit=$(sed -n 's/^limit=//p' "$source/.ci/run")
[ "$target" -gt 0 ] && [ "$limit" -gt "$target" ] || fail "target '$target', limit '$limit'"
say "in time"
ci 2100 3600 0 0
exits 0 "in time"
printed "make check: passed"
checks=$((checks + 1))
! grep -q WARNING out || fail "a warning"
say "too long"
ci 0 3600 2 0
exits 0 "too long"
printed "make check: passed" "WARNING: make check took" "more than the 0"
say "failed"
ci 2100 3600 0 1
checks=$((checks + 1))
[ "$status" -ne 0 ] || fail "no exit status"
printed "make check: failed"
say "stopped"
ci 2100 1 10 0
exits 124 "stopped"
printed "make check: stopped after 1 seconds"
finish
