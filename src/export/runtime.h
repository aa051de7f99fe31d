/* runtime.h - ONNX Runtime, where it is installed: to run an exported file beside our own network.
 *
 *     tsri_runtime rt;
 *     TSR_TRY(tsri_runtime_open(&rt, "libonnxruntime.so.1"));
 *     TSR_TRY(tsri_session_open(&s, &rt, bytes, n, threads));
 *     TSR_TRY(tsri_session_input(&s, x, shape, dims, lengths));      kept until the next call
 *     TSR_TRY(tsri_session_run(&s));
 *     ... s.output [s.outputs] ...
 *     tsri_session_close(&s);
 *     tsri_runtime_close(&rt);
 *
 * It is not needed to build: it is loaded at run time, and called by its C interface, a table of
 * functions whose order never changes (its ABI). Debian 12 has no package of it.
 */
#ifndef TSRI_RUNTIME_H
#define TSRI_RUNTIME_H

#include "base/status.h"

typedef struct tsri_runtime {
    void *library;
    void *const *call; /* the table */
    void *env, *memory;
    const char *version;
} tsri_runtime;

/* FAILURE when it is not there, or is not ONNX Runtime. Call close also when open failed. It stays
 * loaded: its threads may outlive their session. */
tsr_status tsri_runtime_open(tsri_runtime *rt, const char *library);
void tsri_runtime_close(tsri_runtime *rt);

typedef struct tsri_session {
    const tsri_runtime *rt;
    void *session;
    void *in[2], *out; /* values: the input, lengths of sequences or NULL; the output */
    const float *output;
    int64_t outputs;
} tsri_session;

/* Bytes of an ONNX file that this program has made. Call close also when open failed. */
tsr_status tsri_session_open(tsri_session *s, const tsri_runtime *rt, const void *bytes, int64_t n,
                             int64_t threads);
void tsri_session_close(tsri_session *s);

/* `x` and `lengths` [batch] (NULL: no sequences) must stay until the last run. */
tsr_status tsri_session_input(tsri_session *s, const float *x, const int64_t *shape, int dims,
                              const int32_t *lengths);
tsr_status tsri_session_run(tsri_session *s);

#endif
