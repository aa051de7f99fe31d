/* frame.c - one message between ranks: a head that can be checked, and bytes. */
#include "comm/frame.h"

#include "base/alloc.h"
#include "io/crc32c.h"

#include <stddef.h>

enum { MARK = 0x54535241 }; /* "ARST" in memory: the format's first version */

_Static_assert(sizeof(tsri_head) == 64, "the bytes after the head must be aligned");

tsr_status tsri_frame_init(tsri_frame *frame, int64_t bytes)
{
    tsr_status st = TSR_OK;
    *frame = (tsri_frame){.capacity = bytes};
    TSR_TRY(tsri_alloc_raw(&frame->head, (int64_t)sizeof(tsri_head) + bytes, 1));
    *frame->head = (tsri_head){0};
    frame->bytes = (uint8_t *)(frame->head + 1);
done:
    return st;
}

void tsri_frame_fini(tsri_frame *frame)
{
    tsri_free(frame->head);
    *frame = (tsri_frame){0};
}

static uint32_t head_check(const tsri_head *head)
{
    return tsri_crc32c(0, head, offsetof(tsri_head, check));
}

void tsri_frame_seal(tsri_frame *frame, tsri_frame_kind kind, int64_t round, int64_t share,
                     int64_t bytes)
{
    *frame->head = (tsri_head){.mark = MARK,
                               .kind = kind,
                               .round = round,
                               .share = share,
                               .bytes = bytes,
                               .crc = tsri_crc32c(0, frame->bytes, (size_t)bytes)};
    frame->head->check = head_check(frame->head);
}

void tsri_frame_note(tsri_frame *frame, tsri_spent spent)
{
    frame->head->spent = spent;
    frame->head->check = head_check(frame->head);
}

bool tsri_frame_sound(const tsri_frame *frame, int64_t size)
{
    const tsri_head *h = frame->head;
    if (size < (int64_t)sizeof *h || h->mark != MARK || h->check != head_check(h))
        return false;
    if (h->kind < TSRI_HELLO || h->kind >= TSRI_KINDS || h->bytes != size - (int64_t)sizeof *h)
        return false;
    return tsri_crc32c(0, frame->bytes, (size_t)h->bytes) == h->crc;
}
