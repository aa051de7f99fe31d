/* locale_testing.h - a locale that writes 0,5, for tests that such a host program changes no number
 * of ours. A fresh machine has none, so the test makes its own with localedef (Debian: libc-bin,
 * and locales for the descriptions). */
#ifndef TSRI_LOCALE_TESTING_H
#define TSRI_LOCALE_TESTING_H

#include "testing.h"

#include <locale.h>

/* The category is German afterwards; the test is skipped where that cannot be. */
static inline void german_locale(int category)
{
    char folder[] = "/tmp/tessera-locale-XXXXXX", command[200];
    if (setlocale(category, "de_DE.UTF-8"))
        return;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(command, sizeof command,
                   "localedef --no-archive -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1",
                   folder);
    (void)!system(command); /* what came of it is seen below */
    (void)setenv("LOCPATH", folder, 1);
    bool made = setlocale(category, "de_DE.UTF-8") != NULL;
    (void)unsetenv("LOCPATH");
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    (void)!system(command);
    if (!made) {
        print_message("there is no German locale, and none can be made (Debian: locales)\n");
        skip();
    }
}

#endif
