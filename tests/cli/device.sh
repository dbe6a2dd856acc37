# The same trajectory on the CPU and on GPUs: equal to rounding between the two, and the same bits on GPUs for any process
# grid and transport. Ranks may share a GPU.
. "$(dirname "$0")/kit.bash"
need_mpi
write_input a.ini
export OMP_NUM_THREADS=1
if [ "$gpus" = all ]; then unset CUDA_VISIBLE_DEVICES; else export CUDA_VISIBLE_DEVICES=$gpus; fi

# near WHAT A B TOLERANCE
near() {
    checks=$((checks + 1))
    awk -v a="$2" -v b="$3" -v t="$4" 'BEGIN { d = a - b; exit !(a != "" && (d < 0 ? -d : d) <= t) }' ||
        fail "$1: $2 and $3 differ by more than $4"
}

try run --dry-run a.ini machine.device=gpu run.output=none
if [ $status -eq 2 ] && grep -q "device = gpu, but" err; then
    say "skipped: no GPU here, or a build without CUDA"
    exit 77
fi
exits 0 "a dry run with a GPU"

# on DEVICE RANKS GRID ARGUMENTS...: a run of $input; sets $digest $history $plaquette.
number=0
input=a.ini
on() {
    local device=$1 ranks=$2 grid=$3
    shift 3
    number=$((number + 1))
    try_ranks "$ranks" run --json "$input" run.output=run.$number machine.grid="$grid" machine.device="$device" \
        machine.share_gpu=yes "$@"
    exits 0 "run on $ranks $device, grid $grid $*"
    digest=$(value digest) history=$(value history_digest) plaquette=$(value plaquette) exp_dh=$(value exp_dh)
}

# as_on_cpu GRIDS ARGUMENTS...: such a run on one GPU against the CPU, and on GPUs in those grids against one.
as_on_cpu() {
    local grids=$1 grid host_plaquette host_dh links rows
    shift
    on cpu 1 1.1.1.1 "$@"
    host_plaquette=$plaquette host_dh=$exp_dh
    on gpu 1 1.1.1.1 "$@"
    near "plaquette on GPU and CPU" "$plaquette" "$host_plaquette" 1e-9
    near "exp(-dH) on GPU and CPU" "$exp_dh" "$host_dh" 1e-4
    printed "in trajectories: 0 B"
    links=$digest rows=$history
    for grid in $grids; do
        on gpu $((${grid//./*})) $grid "$@"
        same "links on GPUs, grid $grid" "$links" "$digest"
        same "history on GPUs, grid $grid" "$rows" "$history"
    done
}

for physics in "run.trajectories=2" \
    "run.trajectories=1 lattice.size=4.4.4.8 quark.light.schur=symmetric quark.light.parity=even gauge.action=symanzik"; do
    say "$physics"
    as_on_cpu "2.1.1.1 1.2.1.1 1.1.2.1 1.1.1.2 2.2.1.1 2.1.2.1 2.1.1.2 1.2.2.1 1.2.1.2 1.1.2.2" $physics
done

say "four ranks in a row, so that either neighbour is another one"
as_on_cpu "4.1.1.1 1.4.1.1 1.1.4.1 1.1.1.4" run.trajectories=1 lattice.size=8.8.8.8
say "more ranks than GPUs"
(
    [ "$gpus" != all ] && export CUDA_VISIBLE_DEVICES=${gpus%%,*} || export CUDA_VISIBLE_DEVICES=0
    try_ranks 2 run a.ini run.output=none machine.device=gpu
    echo $status >status
)
status=$(cat status)
exits 2 "two ranks and one GPU"
printed "2 ranks have one GPU, that of rank" "share_gpu = yes"
say "four flavours of HISQ quarks"
input=$source/inputs/hisq-2plus1plus1.ini
staggered="$short_staggered run.trajectories=1"
as_on_cpu "1.1.1.2 1.2.1.1 1.2.1.2" $staggered
say "three flavours of asqtad quarks"
input=$source/inputs/asqtad-2plus1.ini
as_on_cpu "1.1.1.2" $short_staggered run.trajectories=2
input=a.ini

if command -v pgrep >/dev/null; then
    say "one of two ranks hangs"
    on gpu 1 1.1.1.1 run.trajectories=12
    links=$digest
    hangs 2 run.trajectories=12 machine.device=gpu machine.share_gpu=yes
    try run --json a.ini run.output=hung run.trajectories=12 machine.device=gpu
    exits 0 "the rest, on one GPU"
    same "links after a rank that hung" "$links" "$(value digest)"
    tidy hung
fi

for transport in host cuda_aware nccl peer; do
    try_ranks 2 run --json a.ini run.output=transport.$transport machine.grid=1.1.1.2 machine.device=gpu \
        machine.share_gpu=yes machine.transport=$transport run.trajectories=2
    if [ $status -ne 0 ]; then
        exits 2 "transport $transport"
        printed "transport '$transport'"
        case ,${PLAQ_TEST_TRANSPORTS:-}, in *,$transport,*) fail "transport $transport is said to work" ;; esac
        say "transport $transport: $(grep -o "transport '.*" err | head -1)"
        continue
    fi
    say "transport $transport"
    [ "$transport" != host ] || links_2=$(value digest)
    same "links with transport $transport" "$links_2" "$(value digest)"
done

# A run that times what it has a choice of, one that takes all of it from the file, and one with another transport there.
say "two ranks, tuned"
tuned() {
    on gpu 2 1.1.1.2 run.trajectories=2 machine.tune_file=tuned.txt "$@"
    same "links of a tuned run ($*)" "$links_2" "$digest"
}
tuned machine.tune=measure
printed ", the fastest for a hop and a norm on this lattice: " " us"
checks=$((checks + 1))
grep -q "^transport single 4.4.4.2 " tuned.txt && grep -q "^hop " tuned.txt ||
    fail "no transport and hop in $(cat tuned.txt)"
cp tuned.txt measured.txt
tuned machine.tune=file
printed ", the fastest"
transports=$(awk '$1 == "transport" { print int($4 / 16) % 16 }' measured.txt)
all_taken=
for way in 0 1 2 3 99; do
    awk -v way=$way '$1 == "transport" { $6 = way } { print }' measured.txt >tuned.txt
    tuned machine.tune=file
    taken=$(cat out err | grep -o "halos by [a-z_]*, the fastest\|the tuner's choice for halos: .*" || true)
    checks=$((checks + 1))
    if [ $way -lt "$transports" ]; then
        [ -n "$taken" ] || fail "no word on halos by transport $way"
        all_taken+="$taken"$'\n'
    else
        [ -z "$taken" ] || fail "of $transports transports number $way: $taken"
    fi
done
[ -z "$(printf %s "$all_taken" | sort | uniq -d)" ] || fail "two transports are one: $all_taken"
finish
