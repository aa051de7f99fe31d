/* log.c - one receiver of messages for each context, called by one thread at a time. */
#include "base/log.h"

#include "base/context.h"

#include <stdarg.h>
#include <stdio.h>

void tsr_context_set_log(tsr_context *context, tsr_log_function function, void *argument,
                         tsr_log_level most)
{
    tsr_context *c = tsri_context_of(context);
    pthread_mutex_lock(&c->log_lock);
    c->log = function;
    c->log_argument = argument;
    c->log_most = most;
    pthread_mutex_unlock(&c->log_lock);
}

void tsr_set_log(tsr_log_function function, void *argument, tsr_log_level most)
{
    tsr_context_set_log(NULL, function, argument, most);
}

void tsri_log_message(tsr_log_level level, const char *fmt, ...)
{
    tsr_context *c = tsri_context();
    char text[2048];
    if (!c->log && c->above)
        c = c->above;
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    pthread_mutex_lock(&c->log_lock);
    if (c->log && level <= c->log_most)
        c->log(c->log_argument, level, text);
    pthread_mutex_unlock(&c->log_lock);
}
