/* thread.h - starts the library's own threads.
 *
 * Signals are for the program's own threads: a handler must interrupt what they do, and two signals
 * must be handled one after the other. So all signals are blocked in our threads.
 *
 *     int error = tsri_thread_start(&thread, work, argument);
 */
#ifndef TSRI_THREAD_H
#define TSRI_THREAD_H

#include <pthread.h>

/* As pthread_create: 0, or an error number. */
int tsri_thread_start(pthread_t *thread, void *(*work)(void *), void *argument);

#endif
