/* Compressed files and archives: content, limits, damage at every byte and every length. */
#include "scratch.h"

#include "base/text.h"
#include "io/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <zlib.h>

enum { ROOM = 1 << 20 };

static unsigned char packed[ROOM];

typedef struct member {
    const char *name;
    const char *bytes;
} member;

static const char *pack_options; /* libarchive's words for the writer, or NULL */

/* Builds an archive in `packed` with libarchive's writer; returns its size. */
static size_t pack(const char *format, const char *filter, const member *members, size_t count)
{
    size_t used = 0;
    struct archive *a = archive_write_new();
    assert_int_equal(archive_write_set_format_by_name(a, format), ARCHIVE_OK);
    if (filter)
        assert_int_equal(archive_write_add_filter_by_name(a, filter), ARCHIVE_OK);
    if (pack_options)
        assert_int_equal(archive_write_set_options(a, pack_options), ARCHIVE_OK);
    (void)archive_write_set_bytes_in_last_block(a, 1);
    assert_int_equal(archive_write_open_memory(a, packed, ROOM, &used), ARCHIVE_OK);
    for (size_t i = 0; i < count; i++) {
        struct archive_entry *e = archive_entry_new();
        archive_entry_set_pathname(e, members[i].name);
        archive_entry_set_filetype(e, members[i].bytes ? AE_IFREG : AE_IFDIR);
        archive_entry_set_perm(e, 0644);
        size_t n = members[i].bytes ? strlen(members[i].bytes) : 0;
        archive_entry_set_size(e, (la_int64_t)n);
        assert_int_equal(archive_write_header(a, e), ARCHIVE_OK);
        if (n > 0)
            assert_int_equal(archive_write_data(a, members[i].bytes, n), n);
        archive_entry_free(e);
    }
    assert_int_equal(archive_write_close(a), ARCHIVE_OK);
    assert_int_equal(archive_write_free(a), ARCHIVE_OK);
    return used;
}

/* gzip with zlib, which writes the trailer that gzip(1) writes. */
static size_t gzip(unsigned char *out, const void *bytes, size_t n)
{
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    union {
        const void *from;
        unsigned char *to;
    } cast = {bytes};
    z.next_in = cast.to;
    z.avail_in = (unsigned int)n;
    z.next_out = out;
    z.avail_out = ROOM / 2;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t used = ROOM / 2 - z.avail_out;
    (void)deflateEnd(&z);
    return used;
}

static const char TEXT[] = "The quick brown fox jumps over the lazy dog, and again: the quick "
                           "brown fox jumps over the lazy dog. 0123456789";

static const struct {
    const char *name, *filter;
} kinds[] = {{"a.gz", "gzip"}, {"a.xz", "xz"}, {"a.bz2", "bzip2"}, {"a.zst", "zstd"}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static size_t compress_text(int kind)
{
    const member one = {"data", TEXT};
    return pack("raw", kinds[kind].filter, &one, 1);
}

static void every_compression_is_undone(void **state)
{
    (void)state;
    char *bytes = NULL;
    int64_t n = 0;
    for (int k = 0; k < KINDS; k++) {
        const char *path = scratch_put(kinds[k].name, packed, compress_text(k));
        assert_ok(tsri_archive_read_file(&bytes, &n, path, ROOM));
        assert_int_equal(n, strlen(TEXT));
        assert_string_equal(bytes, TEXT);
        tsri_free(bytes);
        assert_ok(tsri_archive_read_file(&bytes, &n, path, (int64_t)strlen(TEXT)));
        tsri_free(bytes);
        assert_fails(tsri_archive_read_file(&bytes, &n, path, (int64_t)strlen(TEXT) - 1),
                     TSR_BAD_FILE, "the most that is accepted");
    }
    for (int k = 0; k < KINDS; k++) { /* nothing, compressed */
        const member nothing = {"data", ""};
        size_t used = pack("raw", kinds[k].filter, &nothing, 1);
        assert_ok(tsri_archive_read_file(&bytes, &n, scratch_put("n", packed, used), ROOM));
        assert_int_equal(n, 0);
        tsri_free(bytes);
    }
    const char *path = scratch_put("plain", TEXT, strlen(TEXT));
    assert_ok(tsri_archive_read_file(&bytes, &n, path, ROOM));
    assert_string_equal(bytes, TEXT);
    tsri_free(bytes);
    assert_ok(tsri_archive_read_file(&bytes, &n, scratch_put("none", "", 0), ROOM));
    assert_int_equal(n, 0);
    assert_int_equal(bytes[0], 0);
    tsri_free(bytes);
}

static off_t lseek_back(int fd, off_t offset, int whence)
{
    errno = EIO;
    return whence == SEEK_SET ? -1 : lseek(fd, offset, whence);
}

static tsr_status ignore_member(void *context, const char *path, const char *bytes, int64_t n)
{
    (void)context, (void)path, (void)bytes, (void)n;
    return TSR_OK;
}

/* A disk that gives bytes but not places. */
static void places_that_cannot_be_found(void **state)
{
    (void)state;
    tsri_io_table old = tsri_io;
    char *bytes = NULL;
    int64_t n = 0;
    const member one = {"data", TEXT};
    const char *gz = scratch_put("a.gz", packed, compress_text(0));
    const char *zip = scratch_put("a.zip", packed, pack("zip", NULL, &one, 1));
    tsri_io.lseek = lseek_back;
    assert_fails(tsri_archive_read_file(&bytes, &n, gz, ROOM), TSR_BAD_FILE, "cannot read");
    assert_fails(tsri_archive_each(zip, ignore_member, NULL, ROOM), TSR_BAD_FILE, "cannot read");
    tsri_io = old;
}

/* Several gzip members in a row are one file; zeros after them are padding; anything else is damage. */
static void gzip_members(void **state)
{
    (void)state;
    char *bytes = NULL;
    int64_t n = 0;
    size_t used = gzip(packed, "one ", 4);
    used += gzip(packed + used, "", 0);
    used += gzip(packed + used, "two", 3);
    memset(packed + used, 0, 100);
    for (int zeros = 0; zeros <= 100; zeros += 50) {
        const char *path = scratch_put("m.gz", packed, used + (size_t)zeros);
        assert_ok(tsri_archive_read_file(&bytes, &n, path, 7));
        assert_string_equal(bytes, "one two");
        tsri_free(bytes);
    }
    packed[used + 99] = 'x';
    assert_fails(tsri_archive_read_file(&bytes, &n, scratch_put("m.gz", packed, used + 100), ROOM),
                 TSR_BAD_FILE, "after the end");
    memcpy(packed + used, "PK\3\4", 4);
    assert_fails(tsri_archive_read_file(&bytes, &n, scratch_put("m.gz", packed, used + 4), ROOM),
                 TSR_BAD_FILE, "after the end");
}

static void truncated_at_every_length(void **state)
{
    (void)state;
    char *bytes = NULL;
    int64_t n = 0;
    for (int k = 0; k < KINDS; k++) {
        size_t used = compress_text(k);
        for (size_t cut = 0; cut < used; cut++) {
            const char *path = scratch_put(kinds[k].name, packed, cut);
            tsr_status st = tsri_archive_read_file(&bytes, &n, path, ROOM);
            if (st != TSR_BAD_FILE)
                fail_msg("%s cut at %zu of %zu: status %d, %lld bytes", kinds[k].name, cut, used,
                         (int)st, (long long)n);
            assert_non_null(strstr(tsr_last_error(), kinds[k].name));
        }
    }
}

/* A changed byte is found or changes nothing (a time stamp, flags, the system's number). Not for
 * zstd: libarchive writes it without the checksum that zstd(1) adds, and then nobody can know. */
static void flipped_at_every_byte(void **state)
{
    (void)state;
    char *bytes = NULL;
    int64_t n = 0;
    for (int k = 0; k < KINDS; k++) {
        if (strcmp(kinds[k].filter, "zstd") == 0)
            continue;
        size_t used = compress_text(k);
        for (size_t i = 0; i < used; i++) {
            packed[i] ^= 0x55;
            const char *path = scratch_put(kinds[k].name, packed, used);
            tsr_status st = tsri_archive_read_file(&bytes, &n, path, ROOM);
            packed[i] ^= 0x55;
            if (st == TSR_OK && strcmp(bytes, TEXT) != 0)
                fail_msg("%s: byte %zu changed and other bytes came out", kinds[k].name, i);
            tsri_free(bytes);
        }
    }
}

/* 300 MB of zeros in 300 kB: refused at the limit, with memory near the limit, not near 300 MB. */
static void a_bomb_is_a_sentence(void **state)
{
    (void)state;
    enum { BOMB = 300 << 20, LIMIT = 1 << 20 };
    z_stream z = {0};
    static unsigned char zeros[1 << 16];
    char *bytes = NULL;
    int64_t n = 0;
    assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_out = packed;
    z.avail_out = ROOM;
    for (int done = 0; done < BOMB; done += (int)sizeof zeros) {
        z.next_in = zeros;
        z.avail_in = sizeof zeros;
        assert_int_equal(deflate(&z, Z_NO_FLUSH), Z_OK);
    }
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    size_t used = ROOM - z.avail_out;
    (void)deflateEnd(&z);
    const char *path = scratch_put("bomb.gz", packed, used);
    assert_fails(tsri_archive_read_file(&bytes, &n, path, LIMIT), TSR_BAD_FILE,
                 "the most that is accepted");
    assert_true(tsr_memory_peak() < 8u << 20);
}

/* ---- Archives ----------------------------------------------------------------------------- */

static tsr_status collect(void *context, const char *name, const char *bytes, int64_t n)
{
    if (strcmp(name, "stop") == 0)
        return tsri_fail(TSR_USAGE, "stopped");
    if ((int64_t)strlen(bytes) != n)
        return tsri_fail(TSR_FAILURE, "no NUL after the bytes");
    return tsri_text_add(context, "%s=%s;", name, bytes);
}

static const member THREE[] = {
    {"d/", NULL}, {"d/a.txt", "hello"}, {"../../etc/x", "world"}, {"empty", ""}};
#define JOINED "d/a.txt=hello;../../etc/x=world;empty=;"

static void members_are_visited(void **state)
{
    (void)state;
    static const struct {
        const char *name, *format, *filter;
    } one[] = {{"a.tar", "pax", NULL},      {"b.tar", "gnutar", NULL},
               {"a.tar.xz", "pax", "xz"},   {"a.tgz", "ustar", "gzip"},
               {"a.zip", "zip", NULL},      {"a.tar.bz2", "pax", "bzip2"},
               {"a.tar.zst", "pax", "zstd"}};
    for (size_t i = 0; i < sizeof one / sizeof *one; i++) {
        size_t used = pack(one[i].format, one[i].filter, THREE, 4);
        const char *path = scratch_put(one[i].name, packed, used);
        tsri_text seen = {0};
        assert_ok(tsri_archive_each(path, collect, &seen, ROOM));
        assert_string_equal(seen.data, JOINED);
        tsri_text_fini(&seen);
        assert_fails(tsri_archive_each(path, collect, &seen, 7), TSR_BAD_FILE, "more than");
        tsri_text_fini(&seen);
        /* cut anywhere: an error or, where only padding is lost, the same members */
        for (size_t cut = 0; cut<used; cut += used> 2000 ? 97 : 1) {
            const char *short_path = scratch_put(one[i].name, packed, cut);
            tsr_status st = tsri_archive_each(short_path, collect, &seen, ROOM);
            if (st == TSR_OK && strcmp(seen.data ? seen.data : "", JOINED) != 0)
                fail_msg("%s cut at %zu of %zu passes with \"%s\"", one[i].name, cut, used,
                         seen.data ? seen.data : "");
            tsri_text_fini(&seen);
        }
    }
}

static void a_visitor_may_stop(void **state)
{
    (void)state;
    const member two[] = {{"a", "1"}, {"stop", "2"}, {"b", "3"}};
    tsri_text seen = {0};
    const char *path = scratch_put("s.tar", packed, pack("pax", NULL, two, 3));
    assert_fails(tsri_archive_each(path, collect, &seen, ROOM), TSR_USAGE, "stopped");
    assert_string_equal(seen.data, "a=1;");
    tsri_text_fini(&seen);
}

static void a_wrong_checksum_in_a_zip(void **state)
{
    (void)state;
    const member one = {"a.txt", "stored"};
    tsri_text seen = {0};
    size_t used = pack("zip", NULL, &one, 1);
    size_t flips = 0;
    for (size_t i = 0; i < used; i++) {
        packed[i] ^= 0x10;
        tsr_status st = tsri_archive_each(scratch_put("c.zip", packed, used), collect, &seen, ROOM);
        if (st == TSR_OK && seen.data && !strstr(seen.data, "=stored;"))
            fail_msg("byte %zu changed and \"%s\" came out", i, seen.data);
        flips += st != TSR_OK;
        packed[i] ^= 0x10;
        tsri_text_fini(&seen);
    }
    assert_true(flips > 20);
    assert_fails(tsri_archive_each(scratch_put("x.zip", "PK\5\6", 4), collect, &seen, ROOM),
                 TSR_BAD_FILE, "x.zip: not an archive");
    assert_fails(tsri_archive_each(scratch_put("t", TEXT, strlen(TEXT)), collect, &seen, ROOM),
                 TSR_BAD_FILE, "not an archive");
}

static void zip64(void **state)
{
    (void)state;
    const member one = {"z", "large format, small file"};
    tsri_text seen = {0};
    pack_options = "zip:zip64";
    const char *path = scratch_put("z.zip", packed, pack("zip", NULL, &one, 1));
    pack_options = NULL;
    assert_ok(tsri_archive_each(path, collect, &seen, ROOM));
    assert_string_equal(seen.data, "z=large format, small file;");
    tsri_text_fini(&seen);
}

static void put16(unsigned char *at, size_t v)
{
    at[0] = (unsigned char)(v & 255);
    at[1] = (unsigned char)(v >> 8);
}

/* The trick of some bombs: many directory entries that share one member's bytes. They come out
 * once, and what comes out counts against the limit. */
static void overlapping_members_of_a_zip(void **state)
{
    (void)state;
    enum { COPIES = 50, BYTES = 20000 };
    static char zeros[BYTES + 1];
    memset(zeros, '0', BYTES);
    const member one = {"a", zeros};
    size_t used = pack("zip", NULL, &one, 1);
    unsigned char *end = packed + used - 22; /* the end record; before it one directory entry */
    assert_memory_equal(end, "PK\5\6", 4);
    size_t entry = (size_t)end[12] | (size_t)end[13] << 8;
    unsigned char *directory = end - entry;
    unsigned char record[22];
    memcpy(record, end, 22);
    for (int i = 1; i < COPIES; i++)
        memcpy(directory + (size_t)i * entry, directory, entry);
    put16(record + 8, COPIES);
    put16(record + 10, COPIES);
    put16(record + 12, COPIES * entry);
    memcpy(directory + COPIES * entry, record, 22);
    used += (COPIES - 1) * entry;
    tsri_text seen = {0};
    const char *path = scratch_put("o.zip", packed, used);
    assert_ok(tsri_archive_each(path, collect, &seen, BYTES + (int64_t)used));
    assert_int_equal(seen.length, BYTES + 3);
    tsri_text_fini(&seen);
    assert_fails(tsri_archive_each(path, collect, &seen, BYTES - 1), TSR_BAD_FILE,
                 "unpacks to more than the limit");
    tsri_text_fini(&seen);
}

/* A name meant to paint the terminal reaches the message only as text. */
static void names_cannot_paint(void **state)
{
    (void)state;
    static char long_text[5001];
    memset(long_text, 'x', 5000); /* compressible: the file is smaller than the limit */
    const member one = {"\x1b[31mred", long_text};
    tsri_text seen = {0};
    const char *path = scratch_put("n.zip", packed, pack("zip", NULL, &one, 1));
    assert_fails(tsri_archive_each(path, collect, &seen, 1000), TSR_BAD_FILE, "\\x1b[31mred");
    tsri_text_fini(&seen);
}

static void failed_allocations(void **state)
{
    (void)state;
    const char *file = scratch_put("f.gz", packed, compress_text(0));
    const char *tar = scratch_put("f.tgz", packed, pack("pax", "gzip", THREE, 4));
    int failures = 0;
    for (int64_t n = 0, done = 0; !done; n++) {
        char *bytes = NULL;
        int64_t size = 0;
        tsri_text seen = {0};
        (void)tsri_alloc_fail_after(n, false);
        tsr_status st = tsri_archive_read_file(&bytes, &size, file, ROOM);
        if (st == TSR_OK)
            st = tsri_archive_each(tar, collect, &seen, ROOM);
        (void)tsri_alloc_fail_after(-1, false);
        done = st == TSR_OK;
        failures += !done;
        assert_true(done || st == TSR_RESOURCES);
        tsri_free(bytes);
        tsri_text_fini(&seen);
    }
    assert_true(failures > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bomb_is_a_sentence), /* first: it looks at the peak of memory */
        cmocka_unit_test(every_compression_is_undone),
        cmocka_unit_test(places_that_cannot_be_found),
        cmocka_unit_test(gzip_members),
        cmocka_unit_test(truncated_at_every_length),
        cmocka_unit_test(flipped_at_every_byte),
        cmocka_unit_test(members_are_visited),
        cmocka_unit_test(a_visitor_may_stop),
        cmocka_unit_test(a_wrong_checksum_in_a_zip),
        cmocka_unit_test(overlapping_members_of_a_zip),
        cmocka_unit_test(zip64),
        cmocka_unit_test(names_cannot_paint),
        cmocka_unit_test(failed_allocations),
    };
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
