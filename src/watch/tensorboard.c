/* tensorboard.c - metrics.jsonl as an event file of TensorBoard (handout.h says why by hand).
 *
 *     record:   u64 length | u32 crc(length) | bytes | u32 crc(bytes)          little-endian
 *     Event:    1 wall_time (double)  2 step (int64)  3 file_version (text)  5 summary
 *     Summary:  1 value, repeated
 *     Value:    1 tag (text)  2 simple_value (float)
 *
 * A checksum is CRC-32C, rotated by 15 bits and moved by a constant, so that the checksum of bytes
 * that hold checksums is not a special one.
 */
#include "base/alloc.h"
#include "io/crc32c.h"
#include "io/file.h"
#include "watch/handout.h"
#include "watch/flat.h"

#include <math.h>
#include <string.h>

/* ---- Records -------------------------------------------------------------------------------- */

static void little(uint8_t *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

static uint32_t masked(const void *bytes, size_t n)
{
    uint32_t crc = tsri_crc32c(0, bytes, n);
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

static tsr_status put(tsri_text *out, const void *bytes, size_t n)
{
    return tsri_text_add_bytes(out, bytes, n);
}

static tsr_status put_record(tsri_text *out, const tsri_text *message)
{
    tsr_status st = TSR_OK;
    uint8_t head[12], foot[4];
    little(head, (uint64_t)message->length, 8);
    little(head + 8, masked(head, 8), 4);
    little(foot, masked(message->data, (size_t)message->length), 4);
    TSR_TRY(put(out, head, sizeof head));
    TSR_TRY(put(out, message->data, (size_t)message->length));
    TSR_TRY(put(out, foot, sizeof foot));
done:
    return st;
}

/* ---- Messages ------------------------------------------------------------------------------- */

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 }; /* wire types */

static tsr_status put_varint(tsri_text *out, uint64_t value)
{
    uint8_t bytes[10];
    size_t n = 0;
    do {
        bytes[n] = (uint8_t)(value & 127);
        value >>= 7;
        bytes[n++] |= value ? 128 : 0;
    } while (value);
    return put(out, bytes, n);
}

static tsr_status put_key(tsri_text *out, unsigned field, unsigned wire)
{
    return put_varint(out, field << 3 | wire);
}

static tsr_status put_bytes(tsri_text *out, unsigned field, const void *bytes, size_t n)
{
    tsr_status st = TSR_OK;
    TSR_TRY(put_key(out, field, BYTES));
    TSR_TRY(put_varint(out, n));
    TSR_TRY(put(out, bytes, n));
done:
    return st;
}

/* The bits of a number of 4 or 8 bytes. */
static tsr_status put_fixed(tsri_text *out, unsigned field, uint64_t bits, int size)
{
    tsr_status st = TSR_OK;
    uint8_t bytes[8];
    little(bytes, bits, size);
    TSR_TRY(put_key(out, field, size == 8 ? FIXED64 : FIXED32));
    TSR_TRY(put(out, bytes, (size_t)size));
done:
    return st;
}

static tsr_status put_double(tsri_text *out, unsigned field, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return put_fixed(out, field, bits, 8);
}

static tsr_status put_float(tsri_text *out, unsigned field, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return put_fixed(out, field, bits, 4);
}

/* ---- Lines ---------------------------------------------------------------------------------- */

typedef struct board {
    tsri_text file, summary, value, message, tag;
    const char *event; /* of the line, or NULL */
    double start;      /* the time at which the run's seconds began */
    double seconds, before, raw;
    double round;
    int64_t count;
} board;

static tsr_status take_value(void *context, const char *name, double number, const char *text)
{
    tsr_status st = TSR_OK;
    board *b = context;
    if (text || strcmp(name, "round") == 0 || strcmp(name, "format") == 0)
        return TSR_OK; /* words are not scalars; the round is the step */
    b->tag.length = b->value.length = 0;
    TSR_TRY(tsri_text_add(&b->tag, "%s%s%s", b->event ? b->event : "", b->event ? "/" : "", name));
    TSR_TRY(put_bytes(&b->value, 1, b->tag.data, (size_t)b->tag.length));
    TSR_TRY(put_float(&b->value, 2, (float)number));
    TSR_TRY(put_bytes(&b->summary, 1, b->value.data, (size_t)b->value.length));
    b->count++;
done:
    return st;
}

/* Seconds go on across resumptions; a line without them is of the time of the one before. */
static void note_time(board *b, const tsri_json_value *line)
{
    double raw, round = 0;
    const tsri_json_value *told = tsri_json_get(line, "seconds"),
                          *at = tsri_json_get(line, "round");
    if (at && tsri_json_as_real(at, &round))
        b->round = round;
    if (!told || !tsri_json_as_real(told, &raw) || b->event)
        return;
    if (raw < b->raw)
        b->before += b->raw;
    b->raw = raw;
    b->seconds = b->before + raw;
}

static tsr_status take_line(void *context, const char *event, const tsri_json_value *line)
{
    tsr_status st = TSR_OK;
    board *b = context;
    tsri_flat flat = {b, take_value};
    b->event = event;
    b->summary.length = b->message.length = 0;
    note_time(b, line);
    TSR_TRY(tsri_flat_line(&flat, line, '/'));
    if (b->summary.length == 0)
        return TSR_OK;
    TSR_TRY(put_double(&b->message, 1, b->start + b->seconds));
    TSR_TRY(put_key(&b->message, 2, VARINT));
    TSR_TRY(put_varint(&b->message, b->round > 0 && b->round < 9e15 ? (uint64_t)b->round : 0));
    TSR_TRY(put_bytes(&b->message, 5, b->summary.data, (size_t)b->summary.length));
    TSR_TRY(put_record(&b->file, &b->message));
done:
    return st;
}

static tsr_status begin(board *b)
{
    static const char version[] = "brain.Event:2";
    tsr_status st = TSR_OK;
    TSR_TRY(put_double(&b->message, 1, b->start));
    TSR_TRY(put_bytes(&b->message, 3, version, sizeof version - 1));
    TSR_TRY(put_record(&b->file, &b->message));
done:
    return st;
}

tsr_status tsri_handout_tensorboard(int64_t *count, const tsri_followed *run, const char *folder)
{
    tsr_status st = TSR_OK;
    board b = {0};
    char *path = NULL;
    double took = run->has_last && isfinite(run->last.seconds) ? run->last.seconds : 0;
    b.start = run->metrics.modified - took;
    TSR_TRY(begin(&b));
    TSR_TRY(tsri_handout_each(run, take_line, &b));
    TSR_TRY(tsri_make_folder(folder));
    TSR_TRY(tsri_path_join(&path, folder, TSRI_HANDOUT_FILE));
    TSR_TRY(tsri_file_write(path, &(tsri_piece){b.file.data, b.file.length}, 1));
    *count = b.count;
done:
    tsri_text_fini(&b.file);
    tsri_text_fini(&b.summary);
    tsri_text_fini(&b.value);
    tsri_text_fini(&b.message);
    tsri_text_fini(&b.tag);
    tsri_free(path);
    return st;
}
