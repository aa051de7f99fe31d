/* log.c - one receiver of messages, called by one thread at a time. */
#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tsr_log_function receiver;
static void *receiver_context;
static tsr_log_level receiver_most;

void tsr_set_log(tsr_log_function function, void *context, tsr_log_level most)
{
    pthread_mutex_lock(&lock);
    receiver = function;
    receiver_context = context;
    receiver_most = most;
    pthread_mutex_unlock(&lock);
}

void tsri_log_message(tsr_log_level level, const char *fmt, ...)
{
    char text[2048];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    pthread_mutex_lock(&lock);
    if (receiver && level <= receiver_most)
        receiver(receiver_context, level, text);
    pthread_mutex_unlock(&lock);
}
