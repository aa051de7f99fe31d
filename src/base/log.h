/* log.h - messages to the program, if it asked this thread's context for them
 * (tsr_context_set_log). */
#ifndef TSRI_LOG_H
#define TSRI_LOG_H

#include "tessera.h"

void tsri_log_message(tsr_log_level level, const char *fmt, ...) TSR_PRINTF(2, 3);

#define TSRI_WARN(...)  tsri_log_message(TSR_LOG_WARNING, __VA_ARGS__)
#define TSRI_INFO(...)  tsri_log_message(TSR_LOG_INFO, __VA_ARGS__)
#define TSRI_DEBUG(...) tsri_log_message(TSR_LOG_DEBUG, __VA_ARGS__)

#endif
