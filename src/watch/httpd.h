/* httpd.h - libmicrohttpd, loaded when a page is first served.
 *
 *     TSR_TRY(tsri_httpd_load());
 *     tsri_httpd.run(daemon);             MHD_run and so on
 *
 * Linked, it and what it needs (GnuTLS, p11-kit) would be loaded by every command and by every
 * program with our library: 3.6 ms of processor time each, a quarter more than `tessera version`
 * takes, for what few of them do.
 */
#ifndef TSRI_HTTPD_H
#define TSRI_HTTPD_H

#include "base/status.h"

#include <microhttpd.h>

#define TSRI_HTTPD_LIST(X)                                                                         \
    X(start_daemon)                                                                                \
    X(stop_daemon)                                                                                 \
    X(run)                                                                                         \
    X(get_daemon_info)                                                                             \
    X(get_timeout)                                                                                 \
    X(get_connection_info)                                                                         \
    X(get_connection_values)                                                                       \
    X(set_connection_option)                                                                       \
    X(suspend_connection)                                                                          \
    X(resume_connection)                                                                           \
    X(queue_response)                                                                              \
    X(create_response_from_buffer)                                                                 \
    X(create_response_from_callback)                                                               \
    X(destroy_response)                                                                            \
    X(add_response_header)

typedef struct tsri_httpd_table {
#define X(name) __typeof__(&MHD_##name) name;
    TSRI_HTTPD_LIST(X)
#undef X
} tsri_httpd_table;

extern tsri_httpd_table tsri_httpd;

/* Fine to call again. USAGE when it is not installed. */
tsr_status tsri_httpd_load(void);

#endif
