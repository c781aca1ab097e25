//! What launchers tell the processes that they start, before MPI is up.

use super::Member;

/// The variables for rank and size, by launcher: Open MPI's mpirun, those that speak PMI (MPICH's mpiexec, srun), and
/// Slurm's own. PRRTE sets `PMIX_RANK` besides Open MPI's.
const VARIABLES: &[(&str, &str)] = &[
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"),
    ("SLURM_PROCID", "SLURM_NTASKS"),
];

/// The rank that the launcher assigns to this process; `None` where there is no launcher, or one that does not say.
pub(super) fn member() -> Option<Member> {
    of_variables(&|name| std::env::var(name).ok())
}

fn of_variables(variable: &dyn Fn(&str) -> Option<String>) -> Option<Member> {
    VARIABLES.iter().find_map(|(rank, size)| {
        let number = |name| variable(name)?.trim().parse::<u32>().ok();
        let member = Member {
            rank: number(rank)?,
            size: number(size)?,
        };
        (member.rank < member.size).then_some(member)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_launcher_that_tells_is_believed() {
        let member = |pairs: &[(&str, &str)]| {
            of_variables(&|name| {
                let found = pairs.iter().find(|(key, _)| *key == name);
                found.map(|(_, value)| (*value).to_owned())
            })
        };
        let place = |rank, size| Some(Member { rank, size });
        assert_eq!(member(&[]), None);
        assert_eq!(member(&[("PMI_RANK", "1"), ("PMI_SIZE", "4")]), place(1, 4));
        let both = [
            ("SLURM_PROCID", "0"),
            ("SLURM_NTASKS", "1"),
            ("OMPI_COMM_WORLD_RANK", "2"),
            ("OMPI_COMM_WORLD_SIZE", "3"),
        ];
        assert_eq!(member(&both), place(2, 3), "mpirun in an allocation of one task");
        assert_eq!(member(&[("PMI_RANK", "4"), ("PMI_SIZE", "4")]), None);
        assert_eq!(member(&[("PMI_RANK", "x"), ("PMI_SIZE", "4")]), None);
    }
}
