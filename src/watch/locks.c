/* locks.c - which runs are alive, found without touching their locks. */
#include "watch/locks.h"

#include "base/alloc.h"
#include "io/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

/* Files of /proc have no size: read until the end. */
static tsr_status read_all(tsri_text *out, const char *path)
{
    tsr_status st = TSR_OK;
    enum { MOST = 16 << 20 };
    char block[4096];
    size_t n;
    FILE *f = fopen(path, "re");
    if (!f)
        return TSR_OK;
    while ((n = fread(block, 1, sizeof block, f)) > 0 && out->length < MOST)
        TSR_TRY(tsri_text_add_bytes(out, block, n));
done:
    (void)fclose(f);
    return st;
}

tsr_status tsri_locks_read(tsri_locks *locks)
{
    locks->text.length = 0;
    return read_all(&locks->text, "/proc/locks");
}

void tsri_locks_fini(tsri_locks *locks)
{
    tsri_text_fini(&locks->text);
}

/* The length of the next word of a line, 0 at its end; *at moves after it. */
static size_t next_word(const char **word, const char **at)
{
    *word = *at + strspn(*at, " ");
    size_t length = strcspn(*word, " \n");
    *at = *word + length;
    return length;
}

/* "1: FLOCK  ADVISORY  WRITE 4242 fe:01:1234567 0 EOF". The device is left out: file systems such
 * as btrfs and overlay show another one here than stat does. */
static bool is_of(const char *line, int64_t pid, uint64_t inode)
{
    enum { KIND = 1, WHO = 4, FILE_OF = 5, WORDS = 6 };
    const char *word[WORDS];
    size_t length[WORDS];
    for (int i = 0; i < WORDS; i++) {
        length[i] = next_word(&word[i], &line);
        if (length[i] == 0)
            return false;
    }
    if (length[KIND] != strlen("FLOCK") || memcmp(word[KIND], "FLOCK", length[KIND]) != 0)
        return false;
    const char *file = word[FILE_OF] + length[FILE_OF];
    while (file > word[FILE_OF] && file[-1] != ':')
        file--;
    return strtoll(word[WHO], NULL, 10) == pid && strtoull(file, NULL, 10) == inode;
}

static bool listed(const tsri_locks *locks, int64_t pid, uint64_t inode)
{
    const char *at = locks->text.length > 0 ? locks->text.data : "";
    while (*at) {
        if (is_of(at, pid, inode))
            return true;
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    return false;
}

/* "4242 (name) T ..."; a name may hold anything, so after its last bracket. */
static bool is_stopped(int64_t pid)
{
    char path[64], text[512] = {0};
    (void)snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return false;
    size_t n = fread(text, 1, sizeof text - 1, f);
    (void)fclose(f);
    const char *bracket = memrchr(text, ')', n);
    return bracket && bracket[1] == ' ' && (bracket[2] == 'T' || bracket[2] == 't');
}

static bool on_a_network(const char *path)
{
    static const unsigned long kinds[] = {0x6969ul,     0x517Bul,     0xFF534D42ul, 0xFE534D42ul,
                                          0x0BD00BD0ul, 0x47504653ul, 0x00C36400ul, 0x65735546ul,
                                          0x01021997ul, 0x5346414Ful, 0x19830326ul};
    /* NFS, SMB, CIFS, SMB2, Lustre, GPFS, Ceph, FUSE (sshfs), 9p, AFS, BeeGFS */
    struct statfs about;
    if (statfs(path, &about) != 0)
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (((unsigned long)about.f_type & 0xFFFFFFFFul) == kinds[i])
            return true;
    return false;
}

tsr_status tsri_holder_find(tsri_holder *h, const tsri_locks *locks, const char *folder)
{
    tsr_status st = TSR_OK;
    char *path = NULL, text[32] = {0};
    int fd = -1;
    int64_t size, got = 0;
    struct stat about;
    *h = (tsri_holder){0};
    TSR_TRY(tsri_path_join(&path, folder, "run.lock"));
    if (tsri_file_open(&fd, &size, path) != TSR_OK) /* no lock, no holder */
        goto done;
    if (tsri_file_get(&got, fd, text, sizeof text - 1, path) == TSR_OK && got > 0)
        h->pid = strtoll(text, NULL, 10);
    if (h->pid <= 0 || fstat(fd, &about) != 0) {
        h->pid = 0;
        goto done;
    }
    h->remote = on_a_network(path);
    h->held = listed(locks, h->pid, (uint64_t)about.st_ino);
    h->stopped = h->held && is_stopped(h->pid);
done:
    if (fd >= 0)
        (void)tsri_io.close(fd);
    tsri_free(path);
    return st;
}
