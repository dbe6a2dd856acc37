# The same trajectories on any process grid, number of threads and of lanes are the same bits; so are those of a run that was
# stopped and continued, on the same grid or another.
. "$(dirname "$0")/kit.bash"
need_mpi
write_input a.ini
input=a.ini

run_number=0
# digests RANKS GRID ARGUMENTS...: a run in a folder of its own; sets $digest and $history.
digests() {
    local ranks=$1 grid=$2
    shift 2
    run_number=$((run_number + 1))
    try_ranks "$ranks" run --json "$input" run.output=run.$run_number machine.grid="$grid" "$@"
    exits 0 "run on grid $grid $*"
    digest=$(value digest) history=$(value history_digest)
}

# equal RANKS GRID ARGUMENTS...: such a run gives $links and $rows.
equal() {
    digests "$@"
    same "links of $*" "$links" "$digest"
    same "history of $*" "$rows" "$history"
}

# One physics in turn on all grids; threads and one lane beside several ranks where `mixed` says so.
everywhere() {
    digests 1 1.1.1.1 "$@"
    links=$digest rows=$history
    say "$*: links $links"
    OMP_NUM_THREADS=2 equal 1 1.1.1.1 "$@"
    for grid in $grids_2; do OMP_NUM_THREADS=1 equal 2 $grid "$@"; done
    for grid in $grids_4; do OMP_NUM_THREADS=1 equal 4 $grid "$@"; done
    equal 1 1.1.1.1 machine.simd=no "$@"
    [ "$mixed" = yes ] || return 0
    OMP_NUM_THREADS=2 equal 2 1.1.1.2 "$@"
    equal 2 1.2.1.1 machine.simd=no "$@"
}

export OMP_NUM_THREADS=1
grids_2="1.2.1.1 1.1.1.2"
grids_4="2.2.1.1 2.1.1.2 1.2.2.1"
mixed=yes
everywhere run.trajectories=2
mixed=no
everywhere run.trajectories=1 lattice.size=4.4.4.8 quark.light.schur=symmetric quark.light.parity=even \
    gauge.action=symanzik_1loop_hisq gauge.u0=0.87 gauge.flavours=4 integrator.0.scheme=force_gradient integrator.0.steps=1 integrator.1.scheme=omelyan4

# Extents that lanes do not divide, and a rank with two sites in a direction.
grids_2="1.1.1.2"
grids_4="1.2.1.2"
everywhere run.trajectories=2 lattice.size=2.4.6.8 quark.light.c_sw=0 solver.accept.inner_precision=double gauge.action=custom gauge.c1=0.1

# An anisotropic lattice: gauge action, quark, momenta and flow.
sed '/^c_sw/d' a.ini >xi.ini
printf '[measure.flow]\nkind = flow\nxi = 3\nflow_step = 0.02\nflow_time = 0.06\n' >>xi.ini
input=xi.ini
grids_2="2.1.1.1 1.1.1.2"
grids_4="1.2.1.2"
everywhere run.trajectories=2 lattice.size=4.4.4.8 run.xi_mom=2.5 gauge.action=symanzik_space gauge.beta=1.5 gauge.xi_0=3 gauge.u_s=0.75 gauge.u_t=1 \
    quark.light.xi_0=3 quark.light.nu=1.2 quark.light.clover_R=1.5 quark.light.clover_T=0.9 quark.light.schur=symmetric
input=a.ini

# A doublet of twisted mass, and a ratio of two.
grids_2="2.1.1.1 1.1.1.2"
grids_4="1.2.1.2"
everywhere run.trajectories=2 quark.light.kind=twisted_mass quark.light.mu=0.2 action.light.mus=0.5
everywhere run.trajectories=1 lattice.size=4.4.4.8 quark.light.kind=twisted_mass quark.light.mu=-0.3 quark.light.c_sw=0 quark.light.schur=symmetric

# A doublet with two masses, by rational functions.
everywhere run.trajectories=1 quark.light.kind=twisted_doublet quark.light.mu_sigma=0.25 quark.light.mu_delta=0.2 \
    action.light.kind=rational action.light.flavours=2

# Open boundaries in time, whose ends lie on other ranks.
sed 's/^size = .*/&\ntime_boundary = open/; s/^c_sw = .*/&\nc_F = 1.1/; s/^beta = .*/&\nc_G = 0.9/' a.ini >open.ini
printf '[measure.slices]\nkind = flow_slices\nflow_time = 0.1\n' >>open.ini
input=open.ini
grids_2="1.1.1.2 1.2.1.1"
grids_4="1.1.1.4 2.1.1.2"
everywhere run.trajectories=2 lattice.size=4.4.4.8 gauge.action=symanzik quark.light.schur=symmetric
input=a.ini

# A ratio with guesses, its denominator by another solver, and one flavour.
sed 's/^actions = light$/actions = light strange/
    s/^kind = two_flavours/&\nkappas = 0.12\npredictor = 3/; s/^solver = force/& general/' a.ini >quarks.ini
cat >>quarks.ini <<'INI'
[quark.strange]
like = light
kappa = 0.125
schur = symmetric
[action.strange]
kind = rational
quark = strange
solver = force
action_solver = accept
[solver.general]
type = bicgstab
tolerance = 1e-9
fallback = accept
INI
input=quarks.ini
grids_2="2.1.1.1 1.1.1.2"
grids_4="1.2.1.2"
everywhere run.trajectories=2 run.start=cold run.warmup=2

say "trajectories begun again on a wider range: the same bits everywhere, and after a restart"
everywhere run.trajectories=2 run.start=cold run.warmup=2 "action.strange.spectrum=1 2" action.strange.range_breach=widen
printed "which is now"
try run --json quarks.ini run.output=again run.trajectories=1 run.start=cold run.warmup=2 "action.strange.spectrum=1 2" \
    action.strange.range_breach=widen
exits 0 "the first of them"
try run --json quarks.ini run.output=again run.trajectories=2 run.start=cold run.warmup=2 "action.strange.spectrum=1 2" \
    action.strange.range_breach=widen
exits 0 "the second"
same "links after a restart" "$links" "$(value digest)"
same "history after a restart" "$rows" "$(value history_digest)"

say "multigrid, whose set-up follows the links"
cat >>quarks.ini <<'INI'
[solver.levels]
type = multigrid
tolerance = 1e-10
block = 2.2.2.2
levels = 2
vectors = 8
refresh_at = 1
fallback = accept
INI
grids_2="1.1.1.2"
grids_4="2.2.1.1" # along x a rank has one coarse site: two of the ranks hold the coarse lattice
levels="lattice.size=4.8.4.8 action.light.solver=levels action.light.action_solver=levels integrator.0.steps=2"
everywhere run.trajectories=2 $levels
printed "null vectors are refreshed"
try run --json quarks.ini run.output=levels run.trajectories=1 $levels
exits 0 "the first of them"
try run --json quarks.ini run.output=levels run.trajectories=2 $levels
exits 0 "the second"
same "links after a restart" "$links" "$(value digest)"
same "history after a restart" "$rows" "$(value history_digest)"

say "four flavours of HISQ quarks: forces through both levels of smearing, halos three sites deep"
input=$source/inputs/hisq-2plus1plus1.ini
staggered="$short_staggered run.trajectories=2"
grids_2="1.1.1.2"
grids_4="1.2.1.2"
mixed=yes
everywhere $staggered
mixed=no
try_ranks 2 run --json "$input" run.output=moved machine.grid=1.2.1.1 $staggered run.trajectories=1
exits 0 "the first of them, on two ranks"
try_ranks 4 run --json "$input" run.output=moved machine.grid=1.2.1.2 $staggered
exits 0 "the second, on four"
same "links after a restart on another grid" "$links" "$(value digest)"
same "history after a restart on another grid" "$rows" "$(value history_digest)"
input=a.ini

say "k trajectories, stop, the rest: as all at once"
digests 1 1.1.1.1 run.trajectories=5
links=$digest rows=$history
# continued K GRID...: stops after K trajectories and goes on, each time on the next grid.
continued() {
    local folder=broken.$1.$run_number from=$1 grid ranks
    shift
    for grid in "$@"; do
        ranks=$((${grid//./*}))
        try_ranks $ranks run --json a.ini run.output=$folder machine.grid=$grid run.trajectories=$from
        exits 0 "to trajectory $from on $grid"
        from=$((from + 1 > 5 ? 5 : from + 1))
    done
    try run --json a.ini run.output=$folder run.trajectories=5
    exits 0 "the rest"
    same "links, continued $folder $*" "$links" "$(value digest)"
    same "history, continued $folder $*" "$rows" "$(value history_digest)"
    run_number=$((run_number + 1))
}
continued 1 1.1.1.1
continued 2 1.1.1.1
continued 3 1.1.1.1
continued 4 1.1.1.1
continued 1 1.1.1.2 2.1.1.1 1.1.1.1 1.2.2.1
try run --dry-run a.ini machine.simd=no
printed "1 lanes in double, 1 in single"
try run --json a.ini run.output=lanes run.trajectories=2 machine.simd=no
exits 0 "two trajectories with one lane"
printed "1 lanes in double, 1 in single"
try run --json a.ini run.output=lanes run.trajectories=5
same "links, begun with one lane" "$links" "$(value digest)"
same "history, begun with one lane" "$rows" "$(value history_digest)"
finish
