/* follow.h - a file of lines that another process is writing, read as it grows.
 *
 *     tsri_follow f = {0};
 *     TSR_TRY(tsri_follow_begin(&f, "runs/a/metrics.jsonl"));
 *     each second:  TSR_TRY(tsri_follow_look(&f, &visitor));       only what is new
 *     tsri_follow_fini(&f);
 *
 * The writer does not know about its readers, and may write half a line, cut the file (a resumed run
 * does), replace it or remove it. A line is handed over when it is complete. A file that is no longer
 * the one read so far (another inode, shorter than what was read, other bytes before that place) is
 * read again from its start, after `restart` was called.
 */
#ifndef TSRI_FOLLOW_H
#define TSRI_FOLLOW_H

#include "base/status.h"

enum {
    TSRI_FOLLOW_TAIL = 512,     /* bytes before the place that must still be the same */
    TSRI_FOLLOW_LINE = 4000000, /* a longer line is passed over, and counted */
    TSRI_FOLLOW_MOST = 64 << 20 /* bytes of one look: the rest comes with the next */
};

typedef struct tsri_follow {
    char *path;
    int64_t offset; /* after the last line that was handed over */
    uint64_t device, inode;
    char tail[TSRI_FOLLOW_TAIL];
    int64_t tail_length;
    int64_t size;     /* of the file at the last look; 0: there was none */
    double modified;  /* its time, by the file system's clock, in seconds; 0: there was none */
    int64_t too_long; /* lines that were passed over */
    bool passing;     /* within such a line */
    bool behind;      /* the last look ended before the end of the file */
} tsri_follow;

typedef struct tsri_follow_visitor {
    void *context;
    void (*restart)(void *context); /* what was handed over is void */
    tsr_status (*line)(void *context, const char *bytes, int64_t n); /* without its line end */
} tsri_follow_visitor;

tsr_status tsri_follow_begin(tsri_follow *f, const char *path);
void tsri_follow_fini(tsri_follow *f);

/* Hands over the lines that are new; *changed (may be NULL): there were some, or it restarted. A
 * file that is not there has no lines. BAD_FILE when it cannot be read. What `line` returns ends
 * the look; that line is not handed over again. */
tsr_status tsri_follow_look(tsri_follow *f, bool *changed, const tsri_follow_visitor *visitor);

/* Makes the next look read from the start, for callers who know that another process writes now. */
void tsri_follow_again(tsri_follow *f);

#endif
