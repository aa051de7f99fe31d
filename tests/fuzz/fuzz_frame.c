/* Any bytes as the messages between ranks: a rank that lies. The first byte says who listens: the
 * coordinator while ranks come, the coordinator in a round, a worker, or the check of a frame
 * alone. The rest is cut into frames; their checksums are mended, so that what lies behind them is
 * reached. A lie may fail the run or cost a share its round, nothing else. */
#include "fuzz.h"

#include "comm/crew.h"

enum { SIDES = 4, RANKS = 3, SHARES = 2, BYTES = 16, FRAMES = 24 };
static const char IDENTITY[] = "version\t1\ndata\tab\n";

static void post(tsri_comm *from, int to, tsri_frame_kind kind, int64_t round, int64_t share,
                 const void *bytes, int64_t n)
{
    tsri_frame f;
    MUST(tsri_comm_frame(from, &f, n) == TSR_OK);
    if (n > 0)
        memcpy(f.bytes, bytes, (size_t)n);
    tsri_frame_seal(&f, kind, round, share, n);
    MUST(tsri_comm_send(from, to, &f) == TSR_OK);
}

/* One frame of the input: kind, sender, round, share, length, bytes. */
static void post_next(input *in, tsri_comm **comm, int to)
{
    uint8_t kind = next(in), from = next(in);
    int64_t round = (int8_t)next(in), share = (int8_t)next(in), n = next(in);
    n = n < (int64_t)in->left ? n : (int64_t)in->left;
    int sender = to == 0 ? 1 + from % (RANKS - 1) : 0;
    post(comm[sender], to, (tsri_frame_kind)(TSRI_HELLO + kind % (TSRI_KINDS - TSRI_HELLO)), round,
         share, in->at, n);
    in->at += n;
    in->left -= (size_t)n;
}

static void post_all(input *in, tsri_comm **comm, int to)
{
    for (int i = 0; i < FRAMES && in->left > 0; i++)
        post_next(in, comm, to);
}

/* ---- The job: its numbers are bytes, and 0xff is not a number ------------------------------- */

typedef struct job {
    int done[SHARES], lost[SHARES];
} job;

static int64_t size(void *context, int64_t l)
{
    (void)context, (void)l;
    return BYTES;
}

static tsr_status pack(void *context, int64_t l, void *bytes)
{
    (void)context, (void)l;
    memset(bytes, 1, BYTES);
    return TSR_OK;
}

static tsr_status unpack(void *context, int64_t l, const void *bytes, bool *sound)
{
    job *j = context;
    *sound = !memchr(bytes, 0xff, BYTES);
    j->done[l] += *sound;
    return TSR_OK;
}

static void lost(void *context, int64_t l, int rank, tsri_lost why)
{
    job *j = context;
    MUST(rank >= 0 && rank < RANKS && why < TSRI_LOST_KINDS);
    j->lost[l]++;
}

/* ---- Who listens ---------------------------------------------------------------------------- */

static void coordinate(tsri_comm **comm, input *in, bool gathering)
{
    tsri_crew *crew = NULL;
    job j = {{0}, {0}};
    const tsri_crew_job work = {&j, SHARES, size, pack, size, unpack, lost};
    uint8_t right[BYTES] = {0};
    bool alone = false;
    MUST(tsri_crew_create(&crew, comm[0], 60) == TSR_OK);
    if (gathering)
        post_all(in, comm, 0);
    for (int r = 1; r < RANKS; r++)
        post(comm[r], 0, TSRI_HELLO, -1, -1, IDENTITY, (int64_t)sizeof IDENTITY - 1);
    tsr_status st = tsri_crew_gather(crew, IDENTITY, NULL, 0);
    if (st == TSR_OK) {
        post(comm[1], 0, TSRI_HERE, -1, -1, NULL, 0); /* heard before shares are dealt */
        if (!gathering)
            post_all(in, comm, 0);
        for (int r = 1; r < RANKS; r++) /* so that the round ends, whatever came before */
            post(comm[r], 0, TSRI_RESULT, 0, r - 1, right, BYTES);
        st = tsri_crew_round(crew, 0, &work, &alone);
    }
    for (int l = 0; l < SHARES && st == TSR_OK; l++)
        MUST(j.done[l] + j.lost[l] == 1);
    MUST(st >= 0 && (st == TSR_OK || *tsr_last_error()));
    tsri_crew_end(crew);
    tsri_crew_destroy(crew);
}

static tsr_status work(void *context, int64_t round, int64_t share, const void *in, int64_t n,
                       tsri_frame *out, int64_t *bytes)
{
    (void)round, (void)share;
    tsr_status st = tsri_comm_frame(context, out, n);
    if (st == TSR_OK && n > 0)
        memcpy(out->bytes, in, (size_t)n);
    *bytes = n;
    return st;
}

static void serve(tsri_comm **comm, input *in)
{
    tsri_crew *crew = NULL;
    uint8_t gift[4];
    MUST(tsri_crew_create(&crew, comm[1], 60) == TSR_OK);
    post_all(in, comm, 1);
    post(comm[0], 1, TSRI_START, -1, 0, "gift", 4);
    post(comm[0], 1, TSRI_END, -1, 0, NULL, 0);
    tsr_status st = tsri_crew_join(crew, IDENTITY, gift, (int64_t)sizeof gift);
    if (st == TSR_OK) {
        post(comm[0], 1, TSRI_END, -1, 0, NULL, 0);
        (void)tsri_crew_serve(crew, work, comm[1]);
    }
    tsri_crew_destroy(crew);
}

/* As mpi.c does with what has arrived: the bytes are as many as MPI says. */
static void check(input *in)
{
    tsri_frame f;
    int64_t n = (int64_t)in->left, head = (int64_t)sizeof(tsri_head);
    MUST(tsri_frame_init(&f, n > head ? n - head : 0) == TSR_OK);
    memcpy(f.head, in->at, in->left);
    if (tsri_frame_sound(&f, n))
        MUST(f.head->bytes == n - head && f.head->kind < TSRI_KINDS);
    tsri_frame_fini(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    tsri_comm *comm[RANKS];
    input in = {bytes, n};
    int side = next(&in) % SIDES;
    if (side == SIDES - 1) {
        check(&in);
    } else {
        MUST(tsri_comm_local(comm, RANKS) == TSR_OK);
        if (side == 2)
            serve(comm, &in);
        else
            coordinate(comm, &in, side == 0);
        for (int r = 0; r < RANKS; r++)
            tsri_comm_close(comm[r]);
    }
    MUST(tsri_alloc_blocks() == 0);
    return 0;
}
