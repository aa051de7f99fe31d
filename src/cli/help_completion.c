/* help_completion.c - completion scripts for bash, zsh and fish, from the same tables as the help.
 *
 * The scripts know commands, options, the choices of options, names of data sets, figures and
 * sections, and for --set the keys of a run file with their choices. They need nothing but the
 * shell.
 */
#include "cli/help.h"

#include "cli/args.h"

#include <string.h>

/* "a|b|c" with another sign between the words. */
static void spread(const char *words, const char *between)
{
    for (; *words; words++)
        if (*words == '|')
            (void)fputs(between, stdout);
        else
            (void)putchar(*words);
}

/* The words a value of this key may be; NULL when there is no list. */
static const char *key_words(tsr_key row)
{
    return row.type == TSR_KEY_BOOL ? "true|false" : row.choices;
}

/* The names of a table, separated by spaces. */
static void spread_names(const char *(*name)(int64_t i))
{
    for (int64_t i = 0; name(i); i++)
        (void)printf("%s%s", i > 0 ? " " : "", name(i));
}

static void command_names(const char *between)
{
    for (int i = 0; cli_commands[i]; i++)
        (void)printf("%s%s", i > 0 ? between : "", cli_commands[i]->name);
}

/* ---- bash --------------------------------------------------------------------------------- */

static void bash_option_names(const cli_option *o)
{
    for (; o && o->name; o++)
        (void)printf("--%s ", o->name);
}

/* What completes an argument of this type. */
static void bash_argument(cli_type type, const char *choices)
{
    switch (type) {
    case CLI_CHOICE:
        (void)fputs("COMPREPLY=($(compgen -W '", stdout);
        spread(choices, " ");
        (void)fputs("' -- \"$cur\"))", stdout);
        break;
    case CLI_FILE:
        (void)fputs("compopt -o filenames; COMPREPLY=($(compgen -f -- \"$cur\"))", stdout);
        break;
    case CLI_FOLDER:
        (void)fputs("compopt -o filenames; COMPREPLY=($(compgen -d -- \"$cur\"))", stdout);
        break;
    case CLI_DATA:
        (void)fputs("compopt -o filenames; COMPREPLY=($(compgen -f -- \"$cur\") $(compgen -W "
                    "\"$_tessera_data\" -- \"$cur\"))",
                    stdout);
        break;
    case CLI_SETTING:
        (void)fputs("compopt -o nospace; COMPREPLY=($(compgen -W \"$_tessera_keys\" -- \"$cur\"))",
                    stdout);
        break;
    case CLI_FLAG:
    case CLI_TEXT:
    case CLI_INT:
    case CLI_REAL:
        (void)fputs("COMPREPLY=()", stdout);
        break;
    }
}

static void bash_command(const cli_command *c)
{
    (void)printf("    %s)\n        case $prev in\n", c->name);
    for (const cli_option *o = c->options; o && o->name; o++) {
        if (o->type == CLI_FLAG)
            continue;
        (void)printf("        --%s", o->name);
        if (o->letter)
            (void)printf(" | -%c", o->letter);
        (void)fputs(") ", stdout);
        bash_argument(o->type, o->choices);
        (void)fputs("; return ;;\n", stdout);
    }
    (void)fputs("        esac\n        if [[ $cur == -* ]]; then\n"
                "            COMPREPLY=($(compgen -W '",
                stdout);
    bash_option_names(c->options);
    bash_option_names(cli_common);
    (void)fputs("' -- \"$cur\"))\n        else\n            ", stdout);
    bash_argument(c->operand, "");
    (void)fputs("\n", stdout);
    if (c->words) {
        (void)fputs("            COMPREPLY+=($(compgen -W '", stdout);
        spread(c->words, " ");
        (void)fputs("' -- \"$cur\"))\n", stdout);
    }
    if (c->names) {
        (void)printf("            %sCOMPREPLY+=($(compgen -W '",
                     c->words ? "((COMP_CWORD < 3)) || " : "");
        spread_names(c->names);
        (void)fputs("' -- \"$cur\"))\n", stdout);
    }
    (void)fputs("        fi ;;\n", stdout);
}

/* bash cuts "--set optim.name=sgd" at the '=': the key is one or two words back. */
static void bash_settings(void)
{
    (void)fputs("    if [[ $cur == '=' ]]; then key=$prev cur=''; fi\n"
                "    if [[ $prev == '=' ]]; then key=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
                "    case $key in\n",
                stdout);
    for (int64_t i = 0; i < tsr_key_count(); i++) {
        if (!key_words(cli_key_at(i)))
            continue;
        (void)printf("    %s) COMPREPLY=($(compgen -W '", cli_key_at(i).key);
        spread(key_words(cli_key_at(i)), " ");
        (void)fputs("' -- \"$cur\")); return ;;\n", stdout);
    }
    (void)fputs("    ?*) COMPREPLY=(); return ;;\n    esac\n", stdout);
}

static void bash(void)
{
    (void)fputs("# bash completion of tessera; made by tessera help --completion bash\n"
                "_tessera_keys='",
                stdout);
    for (int64_t i = 0; i < tsr_key_count(); i++)
        (void)printf("%s%s=", i > 0 ? " " : "", cli_key_at(i).key);
    (void)fputs("'\n_tessera_data='", stdout);
    spread_names(tsr_data_name);
    (void)fputs("'\n"
                "_tessera() {\n"
                "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} key=''\n"
                "    COMPREPLY=()\n"
                "    if ((COMP_CWORD == 1)); then\n"
                "        COMPREPLY=($(compgen -W '",
                stdout);
    command_names(" ");
    (void)fputs(" --help --version' -- \"$cur\"))\n        return\n    fi\n", stdout);
    bash_settings();
    (void)fputs("    case ${COMP_WORDS[1]} in\n", stdout);
    for (int i = 0; cli_commands[i]; i++)
        bash_command(cli_commands[i]);
    (void)fputs("    esac\n}\ncomplete -F _tessera tessera\n", stdout);
}

/* ---- zsh ---------------------------------------------------------------------------------- */

/* Inside a single-quoted _arguments spec: ':' and brackets have a meaning there. */
static void zsh_text(const char *text)
{
    for (; *text; text++)
        if (*text == '\'')
            (void)fputs("'\\''", stdout);
        else if (strchr(":[]\\", *text))
            (void)printf("\\%c", *text);
        else
            (void)putchar(*text);
}

static void zsh_action(cli_type type, const char *choices)
{
    switch (type) {
    case CLI_CHOICE:
        (void)putchar('(');
        spread(choices, " ");
        (void)putchar(')');
        break;
    case CLI_FILE:
        (void)fputs("_files", stdout);
        break;
    case CLI_FOLDER:
        (void)fputs("_files -/", stdout);
        break;
    case CLI_DATA:
        (void)fputs("{_files; compadd ", stdout);
        spread_names(tsr_data_name);
        (void)putchar('}');
        break;
    case CLI_SETTING:
        (void)fputs("_tessera_settings", stdout);
        break;
    case CLI_FLAG:
    case CLI_TEXT:
    case CLI_INT:
    case CLI_REAL:
        (void)putchar(' ');
        break;
    }
}

static void zsh_options(const cli_option *o)
{
    for (; o && o->name; o++) {
        (void)printf(" \\\n            '*--%s[", o->name);
        zsh_text(o->help);
        (void)putchar(']');
        if (o->type != CLI_FLAG) {
            (void)putchar(':');
            zsh_text(o->argument);
            (void)putchar(':');
            zsh_action(o->type, o->choices);
        }
        (void)putchar('\'');
    }
}

static void zsh_command(const cli_command *c)
{
    (void)printf("        %s) _arguments", c->name);
    zsh_options(c->options);
    zsh_options(cli_common);
    if (c->words) {
        (void)fputs(" \\\n            '1:word:(", stdout);
        spread(c->words, " ");
        (void)fputs(")'", stdout);
    }
    if (c->names) {
        (void)fputs(" \\\n            '*:name:{compadd ", stdout);
        spread_names(c->names);
        (void)printf("%s}'", c->operand == CLI_FILE ? "; _files" : "");
    } else if (*c->synopsis) {
        (void)fputs(" \\\n            '*:argument:", stdout);
        zsh_action(c->operand, "");
        (void)putchar('\'');
    }
    (void)fputs(" ;;\n", stdout);
}

static void zsh_settings(void)
{
    (void)fputs("_tessera_settings() {\n"
                "    local key=${PREFIX%%=*}\n"
                "    if [[ $PREFIX != *=* ]]; then\n"
                "        local -a keys=(",
                stdout);
    for (int64_t i = 0; i < tsr_key_count(); i++) {
        (void)printf("\n            '%s:", cli_key_at(i).key);
        zsh_text(cli_key_at(i).help);
        (void)putchar('\'');
    }
    (void)fputs(")\n"
                "        _describe 'key' keys -S '='\n"
                "        return\n"
                "    fi\n"
                "    compset -P '*='\n"
                "    case $key in\n",
                stdout);
    for (int64_t i = 0; i < tsr_key_count(); i++) {
        if (!key_words(cli_key_at(i)))
            continue;
        (void)printf("        %s) compadd -- ", cli_key_at(i).key);
        spread(key_words(cli_key_at(i)), " ");
        (void)fputs(" ;;\n", stdout);
    }
    (void)fputs("    esac\n}\n", stdout);
}

static void zsh(void)
{
    (void)fputs("#compdef tessera\n# made by tessera help --completion zsh\n", stdout);
    zsh_settings();
    (void)fputs("_tessera() {\n"
                "    if ((CURRENT == 2)); then\n"
                "        local -a commands=(",
                stdout);
    for (int i = 0; cli_commands[i]; i++) {
        (void)printf("\n            '%s:", cli_commands[i]->name);
        zsh_text(cli_commands[i]->help);
        (void)putchar('\'');
    }
    (void)fputs(")\n"
                "        _describe 'command' commands\n"
                "        return\n"
                "    fi\n"
                "    local command=$words[2]\n"
                "    shift words\n"
                "    ((CURRENT--))\n"
                "    case $command in\n",
                stdout);
    for (int i = 0; cli_commands[i]; i++)
        zsh_command(cli_commands[i]);
    (void)fputs("    esac\n}\n"
                "if [ \"$funcstack[1]\" = _tessera ]; then _tessera \"$@\"; else compdef _tessera "
                "tessera; fi\n",
                stdout);
}

/* ---- fish --------------------------------------------------------------------------------- */

/* Inside single quotes. */
static void fish_text(const char *text)
{
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            (void)putchar('\\');
        (void)putchar(*text);
    }
}

static void fish_argument(cli_type type, const char *choices)
{
    if (type == CLI_CHOICE) {
        (void)fputs(" -x -a '", stdout);
        spread(choices, " ");
        (void)putchar('\'');
    } else if (type == CLI_FILE) {
        (void)fputs(" -r -F", stdout);
    } else if (type == CLI_DATA) {
        (void)fputs(" -r -F -a '", stdout);
        spread_names(tsr_data_name);
        (void)putchar('\'');
    } else if (type == CLI_FOLDER) {
        (void)fputs(" -x -a '(__fish_complete_directories)'", stdout);
    } else if (type == CLI_SETTING) {
        (void)fputs(" -x -a '(__tessera_settings)'", stdout);
    } else if (type != CLI_FLAG) {
        (void)fputs(" -x", stdout);
    }
}

static void fish_option(const char *condition, const cli_option *o)
{
    (void)printf("complete -c tessera%s -l %s", condition, o->name);
    if (o->letter)
        (void)printf(" -s %c", o->letter);
    fish_argument(o->type, o->choices);
    (void)fputs(" -d '", stdout);
    fish_text(o->help);
    (void)fputs("'\n", stdout);
}

static void fish_command(const cli_command *c)
{
    char condition[128];
    (void)printf("complete -c tessera -n __fish_use_subcommand -f -a %s -d '", c->name);
    fish_text(c->help);
    (void)fputs("'\n", stdout);
    (void)snprintf(condition, sizeof condition, " -n '__fish_seen_subcommand_from %s'", c->name);
    for (const cli_option *o = c->options; o && o->name; o++)
        fish_option(condition, o);
    if (c->words) {
        (void)printf("complete -c tessera%s -a '", condition);
        spread(c->words, " ");
        (void)fputs("'\n", stdout);
    }
    if (c->names) {
        (void)printf("complete -c tessera%s -a '", condition);
        spread_names(c->names);
        (void)fputs("'\n", stdout);
    }
    if (c->operand != CLI_FILE && c->operand != CLI_FOLDER)
        (void)printf("complete -c tessera%s -f\n", condition);
}

static void fish_settings(void)
{
    (void)fputs("function __tessera_settings\n", stdout);
    for (int64_t i = 0; i < tsr_key_count(); i++) {
        const char *words = key_words(cli_key_at(i));
        (void)printf("    printf '%%s\\n' '%s='\n", cli_key_at(i).key);
        if (!words)
            continue;
        (void)printf("    printf '%s=%%s\\n' ", cli_key_at(i).key);
        spread(words, " ");
        (void)putchar('\n');
    }
    (void)fputs("end\n", stdout);
}

static void fish(void)
{
    (void)fputs("# fish completion of tessera; made by tessera help --completion fish\n", stdout);
    fish_settings();
    for (int i = 0; cli_commands[i]; i++)
        fish_command(cli_commands[i]);
    for (const cli_option *o = cli_common; o->name; o++)
        fish_option("", o);
}

tsr_status cli_help_completion(const char *shell)
{
    if (strcmp(shell, "bash") == 0)
        bash();
    else if (strcmp(shell, "zsh") == 0)
        zsh();
    else if (strcmp(shell, "fish") == 0)
        fish();
    else
        return tsr_fail(TSR_USAGE,
                        "help: no completion for this shell; bash, zsh and fish have one");
    return TSR_OK;
}
