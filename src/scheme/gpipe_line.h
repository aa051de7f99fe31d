/* gpipe_line.h - the stages of a pipeline in other ranks, as the coordinator sees them.
 *
 *     TSR_TRY(tsri_line_create(&line, pipe));
 *     TSR_TRY(tsri_line_form(line));                  orders and numbers to all ranks present
 *     TSR_TRY(tsri_line_go(line, round, false));      work up to that round
 *     while (the last post has not finished it)
 *         TSR_TRY(tsri_line_hear(line, seconds));
 *
 * Each time the line is formed it gets a number, and frames with another number are dropped. Only the
 * coordinator calls these functions. They fail as sending and receiving do (comm.h), with RESOURCES,
 * and with the failure that a rank reports.
 */
#ifndef TSRI_GPIPE_LINE_H
#define TSRI_GPIPE_LINE_H

#include "scheme/gpipe_parts.h"

enum { TSRI_LINE_AHEAD = 3 }; /* rounds that the stages may be ahead of the coordinator */

/* A place in the line: one stage, or several neighbouring ones, and the rank that computes them. */
typedef struct tsri_post {
    int rank;
    int64_t from, to;   /* layers */
    tsri_net *part;     /* these layers */
    int64_t done;       /* rounds */
    tsri_frame numbers; /* of the round that is being collected */
} tsri_post;

typedef struct tsri_line {
    tsri_pipe *pipe;
    tsri_crew *crew;
    int64_t forming;
    tsri_post *post; /* [workers] */
    int64_t posts;   /* in use; 0 = the coordinator is alone */
    int64_t kept;    /* the round whose numbers run->store has */
    int64_t granted; /* the round up to which they may work */
    double *loss;    /* [TSRI_LINE_AHEAD + 1][M] of the last rounds */
    bool *answered;  /* [ranks] the last call */
    double since;    /* when something last moved */
    int failures;    /* times the line was formed since `kept` moved */
    bool fresh;      /* nothing has moved since it was last formed */
    bool back;       /* a rank has come back */
} tsri_line;

/* Without posts. tsri_line_destroy (gpipe_parts.h) frees it. */
tsr_status tsri_line_create(tsri_line **out, tsri_pipe *p);

/* Forms the line of the ranks present, in their order, with the numbers of run->store. */
tsr_status tsri_line_form(tsri_line *l);

/* Sends one frame to one rank; tells all posts to work up to that round and, with `collect`, to
 * send their numbers then. */
tsr_status tsri_line_say(tsri_line *l, int rank, tsri_frame_kind kind, int64_t round, int64_t what);
tsr_status tsri_line_go(tsri_line *l, int64_t until, bool collect);

/* Waits that long for a frame and takes in what it says. It is no error when none comes. */
tsr_status tsri_line_hear(tsri_line *l, double seconds);

/* Something has moved: the clock of the deadline starts anew. */
void tsri_line_moved(tsri_line *l);

#endif
