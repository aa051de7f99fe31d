/* frame.h - one message between ranks: a head that can be checked, and bytes.
 *
 * Nothing that arrives is trusted: a frame with a wrong mark, length or checksum is dropped, and so is
 * one of another round. It is then missed at the deadline, as if it had never come.
 */
#ifndef TSRI_FRAME_H
#define TSRI_FRAME_H

#include "base/status.h"

typedef enum tsri_frame_kind {
    TSRI_HELLO = 1, /* a rank is ready: what it would run, as text */
    TSRI_START,     /* the coordinator's answer: fixed parameters */
    TSRI_WORK,      /* a share's numbers: train them */
    TSRI_RESULT,    /* and back: losses, numbers */
    TSRI_FAILED,    /* a rank cannot go on: its status and sentence */
    TSRI_END, /* the run is over; its share TSRI_END_BROKEN: not all ranks are there to hear it */
    TSRI_ORDERS,   /* of a pipeline (scheme/gpipe_crew.c): be this stage, with these numbers */
    TSRI_GO,       /* work up to this round */
    TSRI_FORWARD,  /* from stage to stage: activations of a micro-batch */
    TSRI_BACKWARD, /* and their gradients */
    TSRI_DONE,     /* a stage's round is done: losses, if it is the last one */
    TSRI_NUMBERS,  /* a stage's numbers, for the coordinator */
    TSRI_CALL,     /* asks which ranks are present */
    TSRI_HERE,     /* the answer */
    TSRI_KINDS
} tsri_frame_kind;

enum { TSRI_END_BROKEN = 1 };

/* Where a rank's time went, in seconds. */
typedef struct tsri_spent {
    float compute, send, wait;
} tsri_spent;

typedef struct tsri_head {
    uint32_t mark; /* of our frames */
    uint32_t kind;
    int64_t round, share;
    int64_t bytes;    /* after the head */
    uint32_t crc;     /* of these bytes */
    tsri_spent spent; /* by the sender, since its last report */
    uint8_t pad[12];
    uint32_t check; /* of the head up to here */
} tsri_head;

typedef struct tsri_frame {
    tsri_head *head;  /* the bytes follow it: one piece of memory */
    uint8_t *bytes;   /* 64-byte aligned */
    int64_t capacity; /* room after the head */
    int from;         /* the rank it came from */
} tsri_frame;

/* A frame with room for that many bytes, its head empty. */
tsr_status tsri_frame_init(tsri_frame *frame, int64_t bytes);
void tsri_frame_fini(tsri_frame *frame);

/* The bytes are written: fills in the head. */
void tsri_frame_seal(tsri_frame *frame, tsri_frame_kind kind, int64_t round, int64_t share,
                     int64_t bytes);

/* Of a sealed frame: notes where the sender's time went. */
void tsri_frame_note(tsri_frame *frame, tsri_spent spent);

/* Of a frame that arrived with `size` bytes, head and all: is it whole and ours? */
bool tsri_frame_sound(const tsri_frame *frame, int64_t size);

#endif
