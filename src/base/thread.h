/* thread.h - starts the library's own threads.
 *
 * Signals are for the threads of the program: a handler must interrupt what they do, and two
 * signals must be handled one after the other. So no thread of ours takes any.
 *
 *     int error = tsri_thread_start(&thread, work, argument);
 */
#ifndef TSRI_THREAD_H
#define TSRI_THREAD_H

#include <pthread.h>

/* As pthread_create: 0, or an error number. */
int tsri_thread_start(pthread_t *thread, void *(*work)(void *), void *argument);

#endif
