#!/usr/bin/env bash
# The book's batch script under a real Slurm: a job whose time is over, and that another one preempts, goes back into the
# queue with a checkpoint and prints in all what an uninterrupted run prints.
#
#     CARGO_CKPT=../../target/debug/cargo-ckpt ./slurm.sh
#
# Installs Debian's Slurm where it is missing and starts one of its own, of one node, on loopback, in a folder that is
# removed. Needs to be root, as Slurm's daemons do that start jobs for others.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. ../../.ci/install.sh
command -v slurmctld >/dev/null || install_packages slurm-wlm
tool=$(realpath "${CARGO_CKPT:?names the built cargo-ckpt}")
book=$(realpath ../../docs/src/mpi.md)
arguments='300 300 300000'
node=$(hostname -s)
folder=$(mktemp -d)
daemons=()
end() {
    if [ ${#daemons[@]} -gt 0 ]; then
        kill "${daemons[@]}" && wait "${daemons[@]}" || true
    fi
    rm -rf "$folder"
}
trap end EXIT

export SLURM_CONF=$folder/slurm.conf SLURM_MPI_TYPE=pmix
cat >"$SLURM_CONF" <<CONF
ClusterName=test
SlurmctldHost=$node(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
SlurmUser=root
AuthType=auth/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=sched_interval=2,bf_interval=2
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
NodeName=$node NodeAddr=127.0.0.1 CPUs=4
PartitionName=low Nodes=$node Default=YES PriorityTier=1 GraceTime=30
PartitionName=high Nodes=$node PriorityTier=10 PreemptMode=OFF
CONF
mkdir "$folder/state" "$folder/spool"
if ! munge -n 2>/dev/null | unmunge >/dev/null 2>&1; then
    install -d -o munge /run/munge
    su -s /bin/sh munge -c 'exec munged --foreground' &
    daemons+=($!)
fi
slurmctld -D >"$folder/slurmctld.log" 2>&1 &
daemons+=($!)
slurmd -D -N "$node" >"$folder/slurmd.log" 2>&1 &
daemons+=($!)

# A command that is true within two minutes.
await() {
    for _ in $(seq 240); do
        ! "$@" || return 0
        sleep 0.5
    done
    echo "slurm.sh: still waiting for: $*" >&2
    tail -n 20 "$folder"/*.log "$folder"/job/slurm-* >&2
    return 1
}
node_is_idle() { [ "$(sinfo -h -p low -o %T 2>/dev/null)" = idle ]; }
runs() { [ "$(squeue -h -j "$job" -o %T)" = RUNNING ]; }
waits() { [ "$(squeue -h -j "$job" -o %T)" = PENDING ]; }
is_over() { [ -z "$(squeue -h -j "$job" -t PENDING,RUNNING,COMPLETING)" ]; }
prints() { grep -q "$1" "$folder/job/slurm-$job.out" 2>/dev/null; }
# Slurm lets a job that was put back wait for two minutes; its node has to have forgotten the job's last run.
now() {
    sleep 10
    scontrol update "JobId=$job" StartTime=now
}

await node_is_idle
mkdir "$folder/job"
cd ../examples/heat-mpi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
"$tool" ckpt run -n 2 --release --dir "$folder/built.ckpt.d" -- 8 8 1 >/dev/null
built=$(python3 -c 'import json,sys; print(json.load(open(sys.argv[1]))["executable"])' "$folder"/built.ckpt.d/runs/*/launch.json)
cd "$folder/job"
cp "$built" heat
cp "$tool" cargo-ckpt
# shellcheck disable=SC2086
mpirun --oversubscribe -n 2 ./heat $arguments >plain.txt
sed -n '/^#!\/bin\/sh/,/^```/{/^```/d;p}' "$book" |
    sed "s/--ntasks=64 --time=12:00:00/--ntasks=2 --time=1/; s/USR1@120/USR1@50/; s/deck.toml/$arguments/" >job.sh
job=$(sbatch --parsable job.sh)

await prints 'SIGUSR1: checkpoint .* is written'
await waits
echo 'its time was over: it wrote a checkpoint and is in the queue again'
now
await runs
await prints 'restarts from checkpoint'
sleep 2
sbatch --parsable --partition high --exclusive --wrap true >/dev/null
await prints 'SIGTERM: checkpoint .* is written'
await waits
echo 'it was preempted: it wrote a checkpoint and is in the queue again'
scontrol update "JobId=$job" TimeLimit=10
now
await runs
await is_over
grep '^step' "slurm-$job.out" | diff - plain.txt
echo 'it went on, and printed what an uninterrupted run prints'
