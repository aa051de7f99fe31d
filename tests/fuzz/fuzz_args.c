/* Any bytes as a command line: the first byte chooses the command, the rest are its words, one a
 * line. Refused with a sentence, or read: then every option can be asked for, and a text may be the
 * hosts of a launch. */
#include "fuzz.h"

#include "cli/args.h"
#include "cli/commands.h"
#include "cli/launch.h"

enum { WORDS = 64 };

static void ask(const cli_args *args)
{
    double sum = 0;
    for (const cli_option *o = args->command->options; o && o->name; o++) {
        const char *text = cli_text(args, o->name);
        MUST(!text || cli_has(args, o->name));
        if (o->type == CLI_INT)
            sum += (double)cli_int(args, o->name, 0);
        else if (o->type == CLI_REAL)
            sum += cli_real(args, o->name, 0);
    }
    for (int i = 0; i < args->count; i++)
        sum += (double)strlen(args->operand[i]);
    (void)sum;
}

static void read_hosts(const char *text)
{
    static cli_host host[CLI_HOSTS_MAX];
    int count = 0;
    tsr_status st = cli_hosts_read(host, &count, text);
    MUST(st == TSR_USAGE || (st == TSR_OK && count >= 1 && count <= CLI_HOSTS_MAX));
    for (int i = 0; st == TSR_OK && i < count; i++)
        MUST(host[i].length > 0 && host[i].workers >= 1 &&
             memchr(host[i].name, 0, (size_t)host[i].length) == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    char *text = NULL, *argv[WORDS + 1], *rest = NULL;
    int argc = 0, commands = 0;
    cli_args args;
    if (n < 1 || n > 4096)
        return 0;
    while (cli_commands[commands])
        commands++;
    const cli_command *command = cli_commands[bytes[0] % commands];
    MUST(tsri_strndup(&text, (const char *)bytes + 1, n - 1) == TSR_OK);
    argv[argc++] = text; /* getopt_long passes it over */
    for (char *word = strtok_r(text, "\n", &rest); word && argc < WORDS;
         word = strtok_r(NULL, "\n", &rest)) {
        read_hosts(word);
        argv[argc++] = word;
    }
    argv[argc] = NULL;
    tsr_status st = cli_args_read(&args, command, argc, argv);
    MUST(st == TSR_OK || (st == TSR_USAGE && *tsr_last_error()));
    if (st == TSR_OK)
        ask(&args);
    cli_args_fini(&args);
    tsri_free(text);
    MUST(tsri_alloc_blocks() == 0);
    return 0;
}
