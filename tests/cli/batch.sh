# The batch script of the guide to clusters, with an srun and an sbatch that pretend: how a job ends decides whether it is submitted again.
. "$(dirname "$0")/kit.bash"
write_input a.ini
sed -n '/^    #!\/bin\/bash$/,/^    fi$/s/^    //p' "$source/hmc/guide/clusters.md" >clover-32.sh
mkdir bin
cat >bin/srun <<'END'
#!/bin/bash
while [ $# -gt 0 ] && [ "$1" != build/plaq ]; do shift; done
[ "$2 $3" = "run --json" ] || exit 99
cat summary
exit "$END_OF_RUN"
END
printf '#!/bin/bash\necho "$*" >>submitted\n' >bin/sbatch
chmod +x bin/srun bin/sbatch
touch submitted

say "what the script reads is what a run prints"
try run --json a.ini run.trajectories=2 run.output=done
exits 0 "a run of two trajectories"
cp out finished
sed 's/"finished": true/"finished": false/' finished >stopped
checks=$((checks + 1))
! cmp -s finished stopped || fail "a summary without its end"

# job STATUS SUMMARY: a job whose run ends so.
job() {
    cp "$2" summary
    status=0
    END_OF_RUN=$1 PATH=$PWD/bin:$PATH SLURM_CPUS_PER_TASK=1 bash clover-32.sh >out 2>err || status=$?
}
# submissions N WHAT
submissions() {
    same "$2" "$(wc -l <submitted)" "$1"
}
say "stopped by its time, with trajectories done: goes on"
job 0 stopped
exits 0 "the first job"
submissions 1 "the first job submits the next"
same "what is submitted" "$(cat submitted)" clover-32.sh
sed 's/"trajectories": 2/"trajectories": 3/' stopped >further
job 0 further
exits 0 "a job that got further"
submissions 2 "a job that got further submits the next"
say "measurements that failed: goes on, and says so"
sed 's/"trajectories": 2/"trajectories": 4/' stopped >measured
job 1 measured
exits 0 "a job whose measurements failed"
printed "measurements failed"
submissions 3 "a job whose measurements failed submits the next"
cp measured further
say "no trajectory further: stops"
job 0 further
exits 1 "a job without a trajectory"
printed "no trajectory fits into a job"
submissions 3 "a job without a trajectory"
say "a fault: stops"
for end in 2 3 4 5 6; do
    job $end further
    exits $end "a run with status $end"
    printed "status $end: not submitted again"
done
submissions 3 "runs that failed"
say "all is done: stops"
job 0 finished
exits 0 "the last job"
printed "all trajectories are done"
submissions 3 "the last job"
job 1 finished
exits 1 "the last job, whose measurements failed"
printed "measurements failed" "all trajectories are done"
submissions 3 "the last job, whose measurements failed"
finish
