/* command.h: the one table of the command line. Parsing, help, completion, the reference page and
   the manual page are all made from it; a command that is not in it does not exist. */
#ifndef HF_CLI_COMMAND_H
#define HF_CLI_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/slice.h"
#include "cli/exit.h"
#include "holdfast/status.h"

typedef enum hf_cli_format {
#define HF_CLI_FORMAT(id, text) id,
#include "cli/format.def"
#undef HF_CLI_FORMAT
    HF_CLI_FORMAT_COUNT
} hf_cli_format;

typedef enum hf_cli_flag_id {
#define HF_CLI_FLAG(id, name, letter, value, choices, sentence) id,
#include "cli/flag.def"
#undef HF_CLI_FLAG
    HF_CLI_FLAG_COUNT
} hf_cli_flag_id;

typedef struct hf_cli_flag {
    const char *name;
    char letter;         /* 0 when it has none */
    const char *value;   /* what its value is called; NULL for a switch */
    const char *choices; /* values it may have, separated by spaces; NULL for any */
    const char *sentence;
} hf_cli_flag;

enum { HF_CLI_ARGS_MAX = 3, HF_CLI_EXITS_MAX = 20 };

typedef struct hf_cli_arg {
    const char *name; /* NULL ends the list */
    const char
        *choices;  /* as for flags; "COMMAND" for the names of the commands; NULL for a file */
    bool optional; /* optional arguments come first: one that is missing was left out there */
} hf_cli_arg;

typedef struct hf_cli_exit_rule {
    hf_cli_exit code;
    const char *sentence; /* what the code means here; NULL for its usual meaning; both 0 end */
} hf_cli_exit_rule;

struct hf_cli_call;

typedef struct hf_cli_command {
    const char *name;
    const char *summary; /* begins in lower case, no full stop */
    const char *text;    /* sentences; an empty line between paragraphs */
    const char *example;
    hf_cli_arg args[HF_CLI_ARGS_MAX + 1];
    bool many;        /* the last argument may be given more than once: call->words */
    bool target;      /* it goes to a server or a store: --url, --store, the setting url, what is
                         near */
    bool store;       /* the first argument or --store is the address of a store, or the setting url
                         is */
    uint64_t flags;   /* bits 1 << hf_cli_flag_id */
    uint64_t more;    /* the same of the flags from 64 on */
    unsigned formats; /* bits 1 << hf_cli_format; 0 when it takes no settings at all */
    hf_cli_exit failure; /* what every failure gives; HF_CLI_EXIT_OK: its status decides */
    hf_cli_exit_rule exits[HF_CLI_EXITS_MAX];
    hf_status (*run)(struct hf_cli_call *call, hf_err *err);
} hf_cli_command;

/* The verbs that work with a server or a store, and the nouns beside them; the last of each has no
   name. */
extern const hf_cli_command hf_cli_daily[];
extern const hf_cli_command hf_cli_nouns[];

/* Command `i` in the order of help; NULL beyond the end. */
const hf_cli_command *hf_cli_command_at(size_t i);
const hf_cli_command *hf_cli_command_find(const char *name); /* NULL when there is none */

const hf_cli_flag *hf_cli_flag_at(hf_cli_flag_id id);
bool hf_cli_command_takes(const hf_cli_command *command, hf_cli_flag_id id);

const char *hf_cli_format_text(hf_cli_format format);

/* Whether `word` is one of the words of `choices`. */
bool hf_cli_choice(const char *choices, hf_slice word);

/* The command, or with `command` the flag of it, whose name is nearest to `name`; NULL when none
   has anything in common with it. */
const char *hf_cli_command_nearest(const char *name);
const char *hf_cli_flag_nearest(const hf_cli_command *command, const char *name);

#endif
