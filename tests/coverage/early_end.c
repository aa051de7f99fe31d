/* early_end.c - counts of lines are written when a process ends in order; these calls end it
 * otherwise.
 *
 * Linked with --wrap in builds that count (TESSERA_COVERAGE): what a rank did before it gave up
 * counts, too.
 */
#include <stddef.h>
#include <stdint.h>

void __gcov_dump(void);
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);
/* A communicator is a pointer or an int; both come in one register. Weak: MPI may not be installed.
 */
int __real_MPI_Abort(intptr_t comm, int status) __attribute__((weak));
int __wrap_MPI_Abort(intptr_t comm, int status);
int __real_PMIx_Abort(int status, const char *message, void *who, size_t n) __attribute__((weak));
int __wrap_PMIx_Abort(int status, const char *message, void *who, size_t n);

_Noreturn void __wrap__exit(int status)
{
    __gcov_dump();
    __real__exit(status);
}

int __wrap_MPI_Abort(intptr_t comm, int status)
{
    __gcov_dump();
    return __real_MPI_Abort(comm, status);
}

int __wrap_PMIx_Abort(int status, const char *message, void *who, size_t n)
{
    __gcov_dump();
    return __real_PMIx_Abort(status, message, who, n);
}
