/* Counts the calls that a process makes of the MPI library by the PMPI_ names: those of the program, which ckpt passes on,
 * and ckpt's own. Loaded before the library. The reductions by which ranks agree are left out, and the looks at whether
 * they are there: how many there are depends on the clocks.
 *
 * Every argument is an integer or an address, so one shape fits all functions. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_ulong calls;

typedef long function(long, long, long, long, long, long, long, long, long, long, long, long, long);

#define COUNTS(name)                                                                                                   \
    long name(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k, long l,          \
              long m) {                                                                                                \
        static function *next;                                                                                         \
        if (!next)                                                                                                     \
            next = (function *)dlsym(RTLD_NEXT, #name);                                                                \
        atomic_fetch_add(&calls, 1);                                                                                   \
        return next(a, b, c, d, e, f, g, h, i, j, k, l, m);                                                            \
    }

COUNTS(PMPI_Allgather)
COUNTS(PMPI_Allreduce)
COUNTS(PMPI_Alltoall)
COUNTS(PMPI_Barrier)
COUNTS(PMPI_Bcast)
COUNTS(PMPI_Comm_dup)
COUNTS(PMPI_Comm_rank)
COUNTS(PMPI_Comm_size)
COUNTS(PMPI_Comm_split)
COUNTS(PMPI_Gather)
COUNTS(PMPI_Iallgather)
COUNTS(PMPI_Ibarrier)
COUNTS(PMPI_Ibcast)
COUNTS(PMPI_Iprobe)
COUNTS(PMPI_Improbe)
COUNTS(PMPI_Irecv)
COUNTS(PMPI_Isend)
COUNTS(PMPI_Issend)
COUNTS(PMPI_Mprobe)
COUNTS(PMPI_Mrecv)
COUNTS(PMPI_Probe)
COUNTS(PMPI_Put)
COUNTS(PMPI_Recv)
COUNTS(PMPI_Reduce)
COUNTS(PMPI_Send)
COUNTS(PMPI_Sendrecv)
COUNTS(PMPI_Ssend)
COUNTS(PMPI_Wait)
COUNTS(PMPI_Waitall)
COUNTS(PMPI_Win_fence)

__attribute__((destructor)) static void tell(void) {
    unsigned long total = atomic_load(&calls);
    if (total)
        fprintf(stderr, "calls seen from outside: %lu\n", total);
}
