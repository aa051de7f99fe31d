/* shim.h - the system calls of this process that touch files, with a fault in one of them.
 *
 * shim.c defines functions with libc's names (open, write, fsync, rename, ...). Linked into a
 * program they take the place of libc's for everything in it. They watch the files below one
 * folder, number the calls as they come, and then do what the plan says:
 *
 *     shim_watch("disk");                                     paths that begin with disk/
 *     shim_arm((shim_plan){.fault = ENOSPC, .at = 7});        the eighth call that can, fails
 *     shim_record(fd);                                        every change of a file is logged
 * there
 *
 * A plan is for one process and is set after fork; the counters are shared with the parent, which
 * can read them when the child is dead.
 */
#ifndef TSRI_FAULTS_SHIM_H
#define TSRI_FAULTS_SHIM_H

#include <stdbool.h>
#include <stdint.h>

/* A fault is an errno, or one of these. */
enum {
    SHIM_NONE = 0,
    SHIM_KILL = -1,  /* the process dies before the call */
    SHIM_SHORT = -2, /* a read or a write takes one byte only */
    SHIM_CUT = -3,   /* somebody else empties the file before it is read */
    SHIM_GROW = -4   /* somebody else appends to the file before it is read */
};

typedef struct shim_plan {
    int fault;
    int64_t at;      /* the number of the call, from 0, among those that can have this fault */
    bool persistent; /* and all later ones */
} shim_plan;

/* What the parent sees of a child. */
typedef struct shim_shared {
    int64_t calls;   /* that could have had the fault */
    int64_t met;     /* that had it */
    char where[128]; /* the last call that had it, in words */
} shim_shared;

extern shim_shared *shim_seen; /* made by shim_watch, before the first fork */

/* `folder` is relative to the current one and is borrowed. */
void shim_watch(const char *folder);
void shim_arm(shim_plan plan);

/* ---- The log ------------------------------------------------------------------------------ */

typedef enum shim_op {
    SHIM_FOLDER,   /* path */
    SHIM_OPEN,     /* path; handle; n = 1: the file was made */
    SHIM_WRITE,    /* handle; at; n bytes follow */
    SHIM_TRUNCATE, /* handle; at = the new size */
    SHIM_SYNC,     /* handle */
    SHIM_RENAME,   /* both paths, a NUL between them */
    SHIM_UNLINK    /* path */
} shim_op;

/* A record; `n` bytes follow it: the path, the paths or what was written. */
typedef struct shim_record_head {
    int32_t op, handle;
    int64_t at, n;
    int64_t made;
} shim_record_head;

/* From now on successful changes are appended to the file `log`. */
void shim_record(int log);

#endif
