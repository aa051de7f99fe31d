/* Bad data files: each is refused with its file, the place in it and a remedy, in under a second
 * and in bounded memory. Small good files are cut off at every length: each is refused too. */
#include "data_testing.h"

#include "data/image.h"

#include <time.h>
#include <zlib.h>

/* Not the wall clock: the machine may be busy with others. */
static double processor_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

#define BYTES(text) text, sizeof text - 1

typedef struct bad {
    const char *file; /* written with these bytes unless bytes is NULL */
    const char *bytes;
    size_t n;
    const char *place, *remedy; /* words of the sentence */
    const char *more[4];        /* settings besides data.path */
    const char *path;           /* data.path when it is not the file */
    int code;                   /* 0 = BAD_FILE */
} bad;

#define LABELS "\0\0\10\1\0\0\0\2\0\1"
/* clang-format off */
static const bad table[] = {
    /* IDX: a-images..., its labels are good */
    {"a-images-idx3-ubyte", BYTES(""), "byte 0", "check data.format", {0}, 0, 0},
    {"a-images-idx3-ubyte", BYTES("\0\0\10"), "byte 0", "check data.format", {0}, 0, 0},
    {"a-images-idx3-ubyte", BYTES("hello, world"), "byte 0", "check data.format", {0}, 0, 0},
    {"a-images-idx3-ubyte", BYTES("\0\0\7\3\0\0\0\1"), "byte 0", "not an IDX file", {0}, 0, 0},
    {"a-images-idx3-ubyte", BYTES("\0\0\10\0"), "byte 3", "has 1 to 4", {0}, 0, 0},
    {"a-images-idx3-ubyte", BYTES("\0\0\10\377\0\0\0\1"), "byte 3", "has 1 to 4", {0}, 0, 0},
    {"a-images-idx3-ubyte", BYTES("\0\0\10\3\0\0\0\2\0\0"), "byte 10", "fetch it again", {0}, 0, 0},
    {"a-images-idx3-ubyte", BYTES("\0\0\10\3\377\377\377\377\377\377\377\377\377\377\377\377"), "byte 8", "damaged", {0}, 0, 0},
    {"a-images-idx3-ubyte", BYTES("\0\0\10\2\377\377\377\377\377\377\377\177"), "byte 8", "damaged", {0}, 0, 0},
    {"a-images-idx3-ubyte", BYTES("\0\0\10\2\377\377\377\377\0\0\0\1x"), "byte 4", "unpack it first", {0}, 0, 0},
    {"a-images-idx3-ubyte", BYTES("\0\0\10\2\0\0\0\0\0\0\0\1"), "byte 4", "damaged", {0}, 0, 0},
    {"a-images-idx3-ubyte", BYTES("\0\0\10\2\0\0\0\2\0\0\0\2abc"), "byte 15", "fetch it again", {0}, 0, 0},
    {"a-images-idx3-ubyte", BYTES("\0\0\10\2\0\0\0\2\0\0\0\2abcde"), "byte 16", "fetch it again", {0}, 0, 0},
    {"good-labels-idx1-ubyte", BYTES("\0\0\10\1\0\0\0\3\0\1\1"), "byte 4: 3 labels", "belong together", {0}, "good-images-idx3-ubyte", 0},
    {"a-images-idx3-ubyte", BYTES("\0\0\15\2\0\0\0\2\0\0\0\1\177\300\0\0\0\0\0\0"), "sample 1, number 1", "repair or remove", {0}, 0, 0},
    {"a-images-idx3-ubyte", BYTES("\0\0\16\2\0\0\0\2\0\0\0\1\0\0\0\0\0\0\0\0\177\340\0\0\0\0\0\0"), "sample 2, number 1", "repair or remove", {0}, 0, 0},
    {"pictures-ubyte", BYTES("\0\0\10\2\0\0\0\2\0\0\0\1ab"), "which file has its labels", "name them", {0}, 0, 0},
    {"lonely-images-idx3-ubyte", BYTES("\0\0\10\2\0\0\0\2\0\0\0\1ab"), "labels are not beside it", "put them there", {0}, 0, 0},
    {"a-images-idx3-ubyte", BYTES("\37\213\10\0\0\0\0\0\0\3\3\0"), "a-images", "", {0}, 0, 0},
    {"a-images-idx3-ubyte", BYTES("\3757zXZ\0\0\4"), "a-images", "", {0}, 0, 0},
    {"empty-folder/.keep", BYTES(""), "train-images-idx3-ubyte", "check data.path", {"data.format=idx"}, "empty-folder", 0},
    /* CIFAR */
    {"data_batch_1.bin", BYTES(""), "byte 0", "fetch it again", {0}, 0, 0},
    {"data_batch_1.bin", BYTES("\1abc"), "byte 4", "fetch it again", {0}, 0, 0},
    {"train.bin", BYTES("\1\2abc"), "byte 5", "fetch it again", {"data.format=cifar100"}, 0, 0},
    {"empty-folder/.keep", BYTES(""), "data_batch_1.bin", "get all the files", {"data.format=cifar10"}, "empty-folder", 0},
    /* CSV */
    {"t.csv", BYTES(""), "line 1", "check the path", {0}, 0, 0},
    {"t.csv", BYTES("\n \r\n\n"), "line 1", "check the path", {0}, 0, 0},
    {"t.csv", BYTES("a,b,c\n"), "line 2", "no rows of data", {"data.header=yes"}, 0, 0},
    {"t.csv", BYTES("a,b,c\n1,2,3\n1,2\n"), "line 3, column 2", "repair the row", {0}, 0, 0},
    {"t.csv", BYTES("a,b,c\n1,2,3\n1,2,3,4\n"), "line 3, column 4", "repair the row", {0}, 0, 0},
    {"t.csv", BYTES("a,b\n1,2\n1\0,2\n"), "line 3, column 1", "not a text file", {0}, 0, 0},
    {"t.csv", BYTES("a,b\n1,2\n1e400,2\n"), "line 3, column 1 (a)", "missing value", {0}, 0, 0},
    {"t.csv", BYTES("a,b\n1,2\n1e39,2\n"), "line 3, column 1 (a)", "missing value", {0}, 0, 0},
    {"t.csv", BYTES("a,b\n1,2\n3,NaN\n"), "line 3, column 2 (b)", "the target is missing", {0}, 0, 0},
    {"t.csv", BYTES("a,b\n1,2\n3,nan(0x1)\n"), "line 3, column 2 (b)", "column of numbers", {0}, 0, 0},
    {"t.csv", BYTES("a,b\n1,2\n3,2\n--1,2\n"), "line 4, column 1 (a)", "data.words", {0}, 0, 0},
    {"t.csv", BYTES("a,b\n1,2\n1e,2\n3,2\n"), "line 3, column 1 (a)", "data.words", {0}, 0, 0},
    {"t.csv", BYTES("a,b\n1,2\n0x10,2\n3,2\n"), "line 3, column 1 (a)", "data.words", {0}, 0, 0},
    {"t.csv", BYTES("a,b\n1,2\n3,2\n2024-05-31,2\n"), "line 4, column 1 (a)", "column of numbers", {0}, 0, 0},
    {"t.csv", BYTES("a,b\n1,2\n"), "no such file", "check the path", {"data.test_path=absent.csv"}, 0, 0},
    {"t.csv", BYTES("a,b\n1e-44,2\n3e-44,3\n"), "input 1 (a) has a spread of 9.81e-45", "multiply it", {"data.split=0"}, 0, 0},
    {"t.csv", BYTES("a,b\n1e-44,2\n3e-44,3\n"), "input 1 (a) has a spread of 1.96e-44", "data.normalize", {"data.split=0", "data.normalize=minmax"}, 0, 0},
    {"t.csv", BYTES("a,b\n1,3.4e38\n2,-3.4e38\n"), "the target has a spread of 3.4e+38, too large", "data.target_scale", {"data.split=0", "data.task=regress"}, 0, 0},
    {"t.csv", BYTES("a,b\n1,2e-44\n2,6e-44\n"), "the target has a spread of", "data.target_scale", {"data.split=0", "data.task=regress"}, 0, 0},
    {"t.csv", BYTES("a,b\n2024-05-31,2\n2024-06-01,3\n"), "line 2, column 1 (a)", "data.dates", {0}, 0, 0},
    {"t.csv", BYTES("a,b\n5/6/2024,2\n6/6/2024,3\n"), "line 2, column 1 (a)", "which is the month", {"data.dates=days"}, 0, 0},
    {"t.csv", BYTES("a;b\n1,234;2\n5,678;3\n"), "line 2, column 1 (a)", "data.decimal", {0}, 0, 0},
    {"t.csv", BYTES("a;b\n1,5;2\n2.5;3\n"), "line 2, column 1 (a)", "write all alike", {0}, 0, 0},
    {"t.csv", BYTES("a;b\n1,5;2\n"), "line 2, column 1 (a)", "data.decimal", {"data.decimal=point"}, 0, 0},
    {"t.csv", BYTES("a,b\n1,2\n-Infinity,2\n"), "line 3, column 1 (a)", "write ? or nothing", {0}, 0, 0},
    {"t.csv", BYTES("a,b\n1,2\n\"3,2\n4,5\n"), "line 3, column 1", "close it", {0}, 0, 0},
    {"t.csv", BYTES("a,b\n1,2\n\"3\"x,2\n"), "line 3, column 1", "remove it", {0}, 0, 0},
    {"t.csv", BYTES("a,b\n1,2\n3,?\n"), "line 3, column 2 (b)", "remove the row", {0}, 0, 0},
    {"t.csv", BYTES("a,b\n1,2\n,3\n"), "line 3, column 1 (a)", "data.missing", {"data.missing=refuse"}, 0, 0},
    {"t.csv", BYTES("a\n1\n2\n"), "line 1", "at least one of each", {0}, 0, 0},
    {"t.csv", BYTES("a,b\n1,0.5\n2,x\n"), "line 3, column 2", "column of numbers", {"data.task=regress"}, 0, 0},
    {"t.csv", BYTES("a,b\n1,0.5\n2,1.5\n"), "column 2", "data.task to regress", {"data.task=classify"}, 0, 0},
    {"t.csv", BYTES("a,b\n1,2\n\33[31m,2\n1,nan\n"), "line 4", "the target is missing", {0}, 0, 0},
    {"t.csv", BYTES("\177ELF\2\1\1\0\0\0\0\0"), "line 1, column 1", "not a text file", {0}, 0, 0},
    {"t.csv", BYTES("a,b\n1,2\n"), "no column \"c\"", "name one of its header", {"data.target=c"}, 0, TSR_USAGE},
    {"t.csv", BYTES("a,b\n1,2\n"), "columns 1 to 2", "outside", {"data.target=3"}, 0, TSR_USAGE},
    {"t.csv", BYTES("a,b\n1,2\n"), "columns 1 to 2", "outside", {"data.ignore=0-1"}, 0, TSR_USAGE},
    {"t2.csv", BYTES("a,c\n1,2\n"), "line 1", "no column \"b\"", {"data.test_path=t2.csv"}, "good.csv", 0},
    {"t2.csv", BYTES("a,b,a\n1,2,3\n"), "column \"a\" appears 2 times", "rename", {"data.test_path=t2.csv"}, "good.csv", 0},
    {"t2.csv", BYTES("1,2\n3,4\n"), "no header", "set data.header", {"data.test_path=t2.csv"}, "good.csv", 0},
    {"t2.csv", BYTES("a,b\n3,4\n"), "a header", "set data.header", {"data.test_path=t2.csv"}, "plain.csv", 0},
    {"t2.csv", BYTES("3,4,5\n"), "line 1", "3 columns", {"data.test_path=t2.csv"}, "plain.csv", 0},
    {"t.csv", BYTES("a,b\n\x81,2\n"), "line 2", "save the file as UTF-8", {0}, 0, 0},
    {"t.csv.gz", BYTES("\37\213\10\0\0\0\0\0\0\3garbage"), "t.csv.gz", "", {0}, 0, 0},
    {"t.csv", BYTES("a,b\n1,2\n"), "one sample", "data.split to 0", {0}, 0, 0},
    {"t.csv", BYTES("a,b\n1,0.5\n2,-1.5\n"), "sample 2", "data.target_scale", {"data.target_scale=log", "data.split=0"}, 0, 0},
    /* npy */
    {"t.npy", BYTES(""), "t.npy", "", {0}, 0, 0},
    {"t.npy", BYTES("\x93NUMPY\2\0\6\0{"), "t.npy", "cut off in its first bytes", {0}, 0, 0},
    {"t.npy", BYTES("\x93NUMPX\1\0\6\0{}    \n"), "t.npy", "", {0}, 0, 0},
    {"t.npy", BYTES("\x93NUMPY\1\0\x47\0{'descr': '|O', 'fortran_order': False, 'shape': (1, 2), }            \n"), "t.npy", "", {0}, 0, 0},
    {"t.npy", BYTES("\x93NUMPY\1\0\x47\0{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }           \nabcd"), "t.npy", "", {0}, 0, 0},
    {"t.npy", BYTES("\x93NUMPY\1\0\x47\0{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999, 9999999)}\n"), "t.npy", "", {0}, 0, 0},
    {"t.npy", BYTES("\x93NUMPY\1\0\x47\0{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }           \n\0\0\300\177\0\0\0\0"), "row 1, column 1", "repair or remove", {0}, 0, 0},
    {"t.npy", BYTES("\x93NUMPY\1\0\x47\0{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }             \n\0\0\0\0\0\0\0\0"), "header", "x.npy and y.npy", {0}, 0, 0},
    {"nx/x.npy", BYTES("\x93NUMPY\1\0\x47\0{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }           \n\0\0\0\0\0\0\0\0"), "no y.npy", "add it", {0}, "nx", 0},
    {"t.npy", BYTES("\x93NUMPY\1\0\x47\0{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }           \n\0\0\0\0\0\0\0\77"), "row 1", "data.task to regress", {"data.task=classify"}, 0, 0},
    /* pictures */
    {"p/c/big.png", BYTES("\211PNG\r\n\32\n\0\0\0\15IHDR\0\0\377\334\0\0\377\334\10\2\0\0\0\211\34\131\15\0\0\0\0IDAT\65\257\6\36\0\0\0\0IEND\256B`\202"), "big.png", "remove it", {0}, "p", 0},
    {"p/c/big.jpg", BYTES("\377\330\377\300\0\21\10\377\334\377\334\3\1\42\0\2\21\1\3\21\1\377\332\0\14\3\1\0\2\21\3\21\0\77\0\377\331"), "65500 x 65500", "make it smaller", {0}, "p", 0},
    {"p/c/text.jpg", BYTES("this is no picture"), "byte 0", "convert or remove it", {0}, "p", 0},
    {"p/c/empty.png", BYTES(""), "byte 0", "convert or remove it", {0}, "p", 0},
    {"p/c/cut.jpg", BYTES("\377\330\377\340\0\20JFIF\0\1\1\0\0\1"), "cut.jpg", "fetch it again or remove it", {0}, "p", 0},
    {"p/c/cut.png", BYTES("\211PNG\r\n\32\n\0\0\0\15IHDR\0\0\0\1\0\0"), "cut.png", "fetch it again or remove it", {0}, "p", 0},
    {"p/loose.png", BYTES("\211PNG\r\n\32\n"), "loose.png is in no class folder", "put it into one", {"data.format=imagefolder"}, "p", 0},
    {"empty-folder/.keep", BYTES(""), "no pictures", "check data.path", {"data.format=imagefolder"}, "empty-folder", 0},
    {"p.tar", BYTES("no tar at all"), "p.tar", "", {0}, 0, 0},
    {"p.zip", BYTES("PK\3\4\24\0\0\0\0\0"), "p.zip", "", {0}, 0, 0},
    /* sequences */
    {"s.train", BYTES("1 2\n3 x\n\n"), "line 2, number 2", "repair it", {0}, 0, 0},
    {"s.train", BYTES("1 2\n3\n\n"), "line 2", "repair the line", {0}, 0, 0},
    {"s.train", BYTES("1 2\n3 nan\n\n"), "line 2, number 2", "repair it", {0}, 0, 0},
    {"s.train", BYTES("1 2\n3 4\0 5\n"), "line 2", "not a text file", {0}, 0, 0},
    {"s.train", BYTES("\n\n"), "line 1", "no sequence", {0}, 0, 0},
    {"s.train", BYTES("1 2\n\n3 4\n\n5 6\n"), "number 1", "the sizes must add up to 3", {"data.format=sequences"}, 0, 0},
    {"size_q.train", BYTES("1 1 1"), "number 2", "the sizes must add up to 1", {"data.format=sequences"}, "q.train", 0},
    {"size_q.train", BYTES("-1 2"), "number 1", "the sizes must add up to 1", {"data.format=sequences"}, "q.train", 0},
    {"size_q.train", BYTES("0 0"), "number 2: the sizes add up to 0", "1 sequences", {"data.format=sequences"}, "q.train", 0},
    {"r.train", BYTES("1 2\n"), "size_r.train", "put it there", {"data.format=sequences"}, 0, 0},
    /* no format, no file, no name */
    {"what.bin", BYTES("1234"), "cannot tell the format", "data.format", {0}, 0, 0},
    {"nothing", NULL, 0, "no such file", "check data.path", {0}, 0, 0},
    {"nothing", NULL, 0, "no such file", "check data.path", {"data.format=csv"}, 0, 0},
    {"cifar10", NULL, 0, "not found in", "tessera data get cifar10", {"data.name=cifar10"}, "empty-folder", 0},
    {"fashion-mnist", NULL, 0, "did you mean fashion-mnist?", "tessera data list", {"data.name=fashon-mnist"}, "empty-folder", TSR_USAGE},
};
/* clang-format on */

static void good_files(void)
{
    static const char *const folders[] = {"empty-folder", "p/c", "nx"};
    for (int i = 0; i < 3; i++)
        put_folder(folders[i]);
    (void)scratch_put("a-labels-idx1-ubyte", LABELS, sizeof LABELS - 1);
    (void)scratch_put("good-images-idx3-ubyte", "\0\0\10\2\0\0\0\2\0\0\0\1ab", 14);
    put_text("size_s.train", "4");
    put_text("q.train", "1 2\n\n");
    put_text("good.csv", "a,b\n1,2\n3,4\n");
    put_text("plain.csv", "1,2\n3,4\n");
}

static int refuse(const bad *b, size_t row)
{
    tsr_data *data = NULL;
    char path[256];
    const char *settings[8] = {path};
    const char *name = strrchr(b->file, '/') ? strrchr(b->file, '/') + 1 : b->file;
    (void)snprintf(path, sizeof path, "data.path=%s", b->path ? b->path : b->file);
    for (int i = 0; i < 4; i++)
        settings[1 + i] = b->more[i];
    if (b->bytes)
        (void)scratch_put(b->file, b->bytes, b->n);
    double start = processor_seconds();
    tsr_status st = load_settings(&data, settings),
               code = b->code ? (tsr_status)b->code : TSR_BAD_FILE;
    double seconds = processor_seconds() - start;
    const char *said = tsr_last_error();
    bool named = *name == '.' || strstr(said, name);
    bool wrong = st != code || !named || !strstr(said, b->place) || !strstr(said, b->remedy) ||
                 seconds > 1.0;
    if (wrong)
        print_message(
            "row %zu, %s: status %d in %.2f s, \"%s\"; expected %d with \"%s\" and \"%s\"\n", row,
            b->file, (int)st, seconds, said, (int)code, b->place, b->remedy);
    for (const char *c = said; *c; c++)
        assert_true((unsigned char)*c >= 0x20); /* nothing that drives a terminal */
    assert_null(data);
    if (b->bytes)
        assert_int_equal(remove(scratch_path(b->file)), 0);
    if (b->path)
        good_files();
    return wrong;
}

static void the_table_is_refused(void **state)
{
    (void)state;
    int wrong = 0;
    good_files();
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        wrong += refuse(&table[i], i);
    }
    assert_int_equal(wrong, 0);
    assert_true(sizeof table / sizeof *table >= 80);
}

/* ---- Large ones, made on the spot ---------------------------------------------------------- */

enum { BOMB = 130000000 };

/* gzip of `n` times the byte c behind a head. */
static void put_bomb(const char *name, const char *head, size_t head_n, char c, size_t n)
{
    enum { BLOCK = 1 << 20 };
    static char block[BLOCK];
    gzFile f = gzopen(scratch_path(name), "wb6");
    assert_int_equal(gzwrite(f, head, (unsigned)head_n), (int)head_n);
    memset(block, c, BLOCK);
    for (size_t done = 0; done < n; done += BLOCK)
        assert_int_equal(gzwrite(f, block, BLOCK), BLOCK);
    assert_int_equal(gzclose(f), Z_OK);
}

static void check_large(const char *const *settings, const char *words)
{
    tsr_data *data = NULL;
    double start = processor_seconds();
    assert_fails(load_settings(&data, settings), TSR_BAD_FILE, words);
    double seconds = processor_seconds() - start;
    print_message("%s: %.2f s: %.100s...\n", settings[0], seconds, tsr_last_error());
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_true(seconds < 1.0);
#endif
}

static void bombs_and_giants(void **state)
{
    (void)state;
    /* 130 MB of zeros in 130 kB: no IDX header; a header that claims too little; too much; a CSV */
    put_bomb("b-images-idx3-ubyte.gz", "", 0, 0, BOMB);
    check_large(SETTINGS("data.path=b-images-idx3-ubyte.gz"), "labels");
    (void)scratch_put("b-labels-idx1-ubyte", LABELS, sizeof LABELS - 1);
    check_large(SETTINGS("data.path=b-images-idx3-ubyte.gz"), "byte 0");
    put_bomb("b-images-idx3-ubyte.gz", "\0\0\10\2\0\0\0\2\0\0\0\1", 12, 0, BOMB);
    check_large(SETTINGS("data.path=b-images-idx3-ubyte.gz"), "after the end");
    put_bomb("b-images-idx3-ubyte.gz", "\0\0\10\2\20\0\0\0\0\0\0\20", 12, 0, BOMB);
    check_large(SETTINGS("data.path=b-images-idx3-ubyte.gz"), "unpack it first");
    put_bomb("b.csv.gz", "a,b\n", 4, ',', BOMB);
    check_large(SETTINGS("data.path=b.csv.gz"), "b.csv.gz");
    put_bomb("b.tar.gz", "", 0, 0, BOMB);
    check_large(SETTINGS("data.path=b.tar.gz"), "b.tar.gz");

    /* a million columns; a column of a million words; numbers with one misspelt */
    enum { MANY = 1000000 };
    char *text = NULL;
    assert_ok(tsri_alloc(&text, 12 * MANY, 1));
    memset(text, ',', MANY);
    (void)scratch_put("wide.csv", text, MANY);
    check_large(SETTINGS("data.path=wide.csv"), "columns");
    size_t n = 0;
    for (int i = 0; i < MANY / 2; i++)
        n += (size_t)sprintf(text + n, "w%d,1\n", i);
    (void)scratch_put("words.csv", text, n);
    check_large(SETTINGS("data.path=words.csv"), "leave it out with data.ignore");
    n = 0;
    for (int i = 0; i < MANY / 10; i++)
        n += (size_t)sprintf(text + n, i == 50000 ? "1o3,1\n" : "%d,1\n", i);
    (void)scratch_put("typo.csv", text, n);
    check_large(SETTINGS("data.path=typo.csv"), "line 50001, column 1: \"1o3\"");
    n = 0;
    for (int i = 1; i <= 65537; i++)
        n += (size_t)sprintf(text + n, "1,%d\n", i);
    (void)scratch_put("classes.csv", text, n);
    check_large(SETTINGS("data.path=classes.csv", "data.task=classify", "data.split=0"),
                "65537 different labels are too many");
    n = 0;
    for (int i = 0; i < 20000; i++)
        n += (size_t)sprintf(text + n, "1\n\n");
    for (int i = 0; i < 300000; i++)
        n += (size_t)sprintf(text + n, "1\n");
    (void)scratch_put("long.train", text, n);
    put_text("size_long.train", "20001");
    check_large(SETTINGS("data.path=long.train"), "cut the longest ones");
    tsri_free(text);
    print_message("most memory held: %s\n", tsri_bytes_text((double)tsr_memory_peak()));
    assert_true(tsr_memory_peak() < 150000000);
}

/* ---- Cut off at every length --------------------------------------------------------------- */

static void cut_everywhere(const char *name, const char *const *settings, int64_t least_bad)
{
    char *bytes = NULL;
    int64_t n = 0, refused = 0;
    tsr_data *data = NULL;
    assert_ok(tsri_file_read(&bytes, &n, scratch_path(name), 1 << 20));
    assert_ok(load_settings(&data, settings));
    tsr_data_destroy(data);
    for (int64_t cut = 0; cut < n; cut++) {
        (void)scratch_put(name, bytes, (size_t)cut);
        tsr_status st = load_settings(&data, settings);
        if (st != TSR_OK && st != TSR_BAD_FILE)
            fail_msg("%s cut to %lld bytes: status %d, %s", name, (long long)cut, (int)st,
                     tsr_last_error());
        refused += st == TSR_BAD_FILE;
        tsr_data_destroy(data);
    }
    (void)scratch_put(name, bytes, (size_t)n);
    tsri_free(bytes);
    if (refused < least_bad)
        fail_msg("%s: only %lld of %lld cuts were refused", name, (long long)refused, (long long)n);
}

/* Every byte changed, in turn: refused or read, never worse. */
static void damage_everywhere(const char *name, const char *const *settings)
{
    char *bytes = NULL;
    int64_t n = 0;
    tsr_data *data = NULL;
    assert_ok(tsri_file_read(&bytes, &n, scratch_path(name), 1 << 20));
    for (int64_t at = 0; at < n; at++)
        for (int flip = 0; flip < 2; flip++) {
            char old = bytes[at];
            bytes[at] = (char)(flip ? old ^ 0x80 : ~old);
            (void)scratch_put(name, bytes, (size_t)n);
            tsr_status st = load_settings(&data, settings);
            if (st != TSR_OK && st != TSR_BAD_FILE)
                fail_msg("%s, byte %lld: status %d, %s", name, (long long)at, (int)st,
                         tsr_last_error());
            tsr_data_destroy(data);
            bytes[at] = old;
        }
    (void)scratch_put(name, bytes, (size_t)n);
    tsri_free(bytes);
}

static void put_small_picture(const char *name)
{
    uint8_t rgb[6 * 5 * 3];
    for (size_t i = 0; i < sizeof rgb; i++)
        rgb[i] = (uint8_t)(i * 37);
    assert_ok(tsri_png_write(scratch_path(name), rgb, 6, 5));
}

/* A 1 x 1 grey JPEG, baseline, made with libjpeg (quality 1, no APP0). */
static const uint8_t small_jpeg[] = {
    0xff, 0xd8, 0xff, 0xdb, 0x00, 0x43, 0x00, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01,
    0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01,
    0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01,
    0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01,
    0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0x01, 0xff, 0xc0, 0x00, 0x0b, 0x08, 0x00, 0x01, 0x00, 0x01,
    0x01, 0x01, 0x11, 0x00, 0xff, 0xc4, 0x00, 0x14, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0xff, 0xc4, 0x00, 0x14, 0x10, 0x01,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0xff, 0xda, 0x00, 0x08, 0x01, 0x01, 0x00, 0x00, 0x3f, 0x00, 0x37, 0xff, 0xd9};

static void cuts_and_damage(void **state)
{
    (void)state;
    put_folder("cut/k");
    put_small_picture("cut/k/a.png");
    cut_everywhere("cut/k/a.png", SETTINGS("data.path=cut", "data.split=0"), 50);
    damage_everywhere("cut/k/a.png", SETTINGS("data.path=cut", "data.split=0"));
    assert_int_equal(remove(scratch_path("cut/k/a.png")), 0);
    (void)scratch_put("cut/k/a.jpg", small_jpeg, sizeof small_jpeg);
    /* without its last two bytes, the end mark, the pixels are still whole: libjpeg warns */
    cut_everywhere("cut/k/a.jpg", SETTINGS("data.path=cut", "data.split=0"),
                   (int64_t)sizeof small_jpeg);
    damage_everywhere("cut/k/a.jpg", SETTINGS("data.path=cut", "data.split=0"));

    put_folder("ci");
    (void)scratch_put("ci/f-labels-idx1-ubyte", LABELS, sizeof LABELS - 1);
    (void)scratch_put("ci/f-images-idx3-ubyte", "\0\0\10\3\0\0\0\2\0\0\0\2\0\0\0\2abcdefgh", 24);
    cut_everywhere("ci/f-images-idx3-ubyte",
                   SETTINGS("data.path=ci/f-images-idx3-ubyte", "data.split=0"), 24);
    cut_everywhere("ci/f-labels-idx1-ubyte",
                   SETTINGS("data.path=ci/f-images-idx3-ubyte", "data.split=0"), 10);
    damage_everywhere("ci/f-images-idx3-ubyte",
                      SETTINGS("data.path=ci/f-images-idx3-ubyte", "data.split=0"));

    put_text("cut.csv", "a,b,c\n1,x,\"q\"\n2,y,\"r\"\n3,?,q\n");
    cut_everywhere("cut.csv", SETTINGS("data.path=cut.csv", "data.split=0"), 10);
    damage_everywhere("cut.csv", SETTINGS("data.path=cut.csv", "data.split=0"));

    put_text("cut.train", "1 2\n3 4\n\n5 6\n\n");
    put_text("size_cut.train", "1 1\n");
    cut_everywhere("cut.train", SETTINGS("data.path=cut.train", "data.split=0"), 8);
    cut_everywhere("size_cut.train", SETTINGS("data.path=cut.train", "data.split=0"), 3);
    damage_everywhere("cut.train", SETTINGS("data.path=cut.train", "data.split=0"));

    static const float x[] = {1, 2, 3, 4, 5, 6};
    put_npy("cut.npy", "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }", x, sizeof x);
    cut_everywhere("cut.npy", SETTINGS("data.path=cut.npy", "data.split=0"), 152);
    damage_everywhere("cut.npy", SETTINGS("data.path=cut.npy", "data.split=0"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_is_refused),
        cmocka_unit_test(bombs_and_giants),
        cmocka_unit_test(cuts_and_damage),
    };
    return nothing_left(cmocka_run_group_tests(tests, scratch_setup, scratch_teardown));
}
