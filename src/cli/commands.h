/* commands.h - one name per cmd_*.c; a new command adds a line here and one in commands.c. */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

#include "cli/command.h"

extern const cli_command cli_bench;
extern const cli_command cli_certify;
extern const cli_command cli_check;
extern const cli_command cli_cost;
extern const cli_command cli_data;
extern const cli_command cli_distance;
extern const cli_command cli_eval;
extern const cli_command cli_export;
extern const cli_command cli_finetune;
extern const cli_command cli_help;
extern const cli_command cli_import;
extern const cli_command cli_info;
extern const cli_command cli_launch_command;
extern const cli_command cli_metrics;
extern const cli_command cli_ntk;
extern const cli_command cli_predict;
extern const cli_command cli_prune;
extern const cli_command cli_report;
extern const cli_command cli_convert;
extern const cli_command cli_reproduce;
extern const cli_command cli_sweep;
extern const cli_command cli_theory;
extern const cli_command cli_ticket;
extern const cli_command cli_train;
extern const cli_command cli_version;
extern const cli_command cli_watch;

#endif
