# A compiler that lacks what the code needs is named when the build is set up, with those that have it.
. "$(dirname "$0")/kit.bash"
command -v cmake >/dev/null || { echo "skipped: no cmake"; exit 77; }

# set_up COMPILER: $status, and the message on one line in the file out.
set_up() {
    status=0
    cmake -S "$source" -B "build.$(basename "$1")" -DPLAQ_CUDA=OFF -DCMAKE_C_COMPILER="$1" >text 2>&1 || status=$?
    tr -s ' \n' ' ' <text >out
    : >err
}
say "a compiler without shuffled vectors"
mkdir bin
cat >bin/plain <<'END'
#!/bin/sh
for word; do
    case $word in *.c) if grep -q '__builtin_shuffle' "$word"; then echo "unknown builtin"; exit 1; fi ;; esac
done
exec cc "$@"
END
chmod +x bin/plain
set_up "$PWD/bin/plain"
exits 1 "a compiler without shuffled vectors"
printed "$PWD/bin/plain" "does not compile plaq" "__builtin_shuffle" "gcc 9 or later" "-DCMAKE_C_COMPILER=gcc"
if command -v clang >/dev/null; then
    say "clang"
    set_up clang
    [ $status -eq 0 ] || printed "clang" "does not compile plaq" "gcc 9 or later"
fi
finish
