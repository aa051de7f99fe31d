/* cmd_version.c - tessera version: which program this is. */
#include "cli/args.h"
#include "cli/commands.h"
#include "cli/print.h"

#include "backend/backend.h"
#include "io/json.h"
#include "linalg/openblas.h"

#include <stdio.h>

static tsr_status print_json(void)
{
    tsri_json w = {0};
    tsri_json_begin(&w);
    tsri_json_put_text(&w, "version", tsr_version());
    tsri_json_put_text(&w, "compiler", __VERSION__);
    tsri_json_put_text(&w, "kernels", tsri_backend_vendor(&tsri_backend_cpu));
    tsri_json_put_text(&w, "core", tsri_openblas_core()); /* bench/kernels.sh */
    tsri_json_close(&w, '}');
    return cli_json_print(&w);
}

static tsr_status run(const cli_args *args)
{
    if (args->json)
        return print_json();
    (void)printf("tessera %s\n", tsr_version());
    return TSR_OK;
}

const cli_command cli_version = {
    .name = "version",
    .help = "show the version",
    .synopsis = "",
    .run = run,
};
