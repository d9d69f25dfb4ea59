/* verbs.h: what the commands do. Each prints its result through call->print, sets call->exit when
   success is not 0, and leaves the printing of failures to cli.c. */
#ifndef HF_CLI_VERBS_H
#define HF_CLI_VERBS_H

#include "cli/command.h"
#include "cli/print.h"
#include "cli/settings.h"
#include "holdfast/holdfast.h"

/* One command line on its way through. */
typedef struct hf_cli_call {
    const hf_cli_command *command;     /* NULL until it is known */
    const char *args[HF_CLI_ARGS_MAX]; /* by position in the table; NULL when not given */
    const char **words;                /* all that are no flags */
    size_t word_count;
    const char *flags[HF_CLI_FLAG_COUNT]; /* value, "" for a switch; NULL when not given */
    const char *store;                    /* address, for commands that have a store */
    const char *shown_store;              /* the same for people: without password, as UTF-8 */
    const char *schema;                   /* of the store, when one was asked for */
    const char *found_token;              /* the credential that dev left beside the address */
    const char *next;                     /* after a failure: the command that helps, {here} for
                                             where this one went; NULL: the status says it */
    const char *program;                  /* as it was called */
    const hf_app *app;                    /* of the program that this is; NULL: holdfast itself */
    hf_cli_settings settings;
    hf_cli_print print;
    hf_mem *mem; /* lives as long as the call */
    hf_cli_exit exit;
} hf_cli_call;

HF_NODISCARD hf_status hf_cli_start(hf_cli_call *call, hf_err *err);
HF_NODISCARD hf_status hf_cli_signal(hf_cli_call *call, hf_err *err);
HF_NODISCARD hf_status hf_cli_update(hf_cli_call *call, hf_err *err);
HF_NODISCARD hf_status hf_cli_query(hf_cli_call *call, hf_err *err);
HF_NODISCARD hf_status hf_cli_order(hf_cli_call *call, hf_err *err); /* cancel, repair, ... */
HF_NODISCARD hf_status hf_cli_ls(hf_cli_call *call, hf_err *err);
HF_NODISCARD hf_status hf_cli_show(hf_cli_call *call, hf_err *err);
HF_NODISCARD hf_status hf_cli_watch(hf_cli_call *call, hf_err *err);
HF_NODISCARD hf_status hf_cli_result(hf_cli_call *call, hf_err *err);
HF_NODISCARD hf_status hf_cli_history(hf_cli_call *call, hf_err *err);
HF_NODISCARD hf_status hf_cli_namespace(hf_cli_call *call, hf_err *err);
HF_NODISCARD hf_status hf_cli_copy(hf_cli_call *call, hf_err *err); /* fork, reset */
HF_NODISCARD hf_status hf_cli_schedule(hf_cli_call *call, hf_err *err);
HF_NODISCARD hf_status hf_cli_batch(hf_cli_call *call, hf_err *err);
HF_NODISCARD hf_status hf_cli_fleet(hf_cli_call *call,
                                    hf_err *err); /* workers, build, queue, task */
HF_NODISCARD hf_status hf_cli_survey(hf_cli_call *call, hf_err *err); /* view, failure, type */
HF_NODISCARD hf_status hf_cli_top(hf_cli_call *call, hf_err *err);
HF_NODISCARD hf_status hf_cli_profile(hf_cli_call *call, hf_err *err);
HF_NODISCARD hf_status hf_cli_docs(hf_cli_call *call, hf_err *err);
HF_NODISCARD hf_status hf_cli_worker(hf_cli_call *call, hf_err *err);
HF_NODISCARD hf_status hf_cli_verify(hf_cli_call *call, hf_err *err);
HF_NODISCARD hf_status hf_cli_why(hf_cli_call *call, hf_err *err);
HF_NODISCARD hf_status hf_cli_doctor(hf_cli_call *call, hf_err *err);
HF_NODISCARD hf_status hf_cli_backup(hf_cli_call *call, hf_err *err);
HF_NODISCARD hf_status hf_cli_migrate(hf_cli_call *call, hf_err *err);
HF_NODISCARD hf_status hf_cli_serve(hf_cli_call *call, hf_err *err);
HF_NODISCARD hf_status hf_cli_dev(hf_cli_call *call, hf_err *err);
HF_NODISCARD hf_status hf_cli_token(hf_cli_call *call, hf_err *err);
HF_NODISCARD hf_status hf_cli_rebuild(hf_cli_call *call, hf_err *err);
HF_NODISCARD hf_status hf_cli_bundle(hf_cli_call *call, hf_err *err);
HF_NODISCARD hf_status hf_cli_bundle_replay(hf_cli_call *call, const char *path, hf_err *err);
HF_NODISCARD hf_status hf_cli_replay(hf_cli_call *call, hf_err *err);
HF_NODISCARD hf_status hf_cli_sql(hf_cli_call *call, hf_err *err);
HF_NODISCARD hf_status hf_cli_config(hf_cli_call *call, hf_err *err);
HF_NODISCARD hf_status hf_cli_completion(hf_cli_call *call, hf_err *err);
HF_NODISCARD hf_status hf_cli_help(hf_cli_call *call, hf_err *err);
HF_NODISCARD hf_status hf_cli_version(hf_cli_call *call, hf_err *err);

/* Which store is meant, into call->store, shown_store and schema; for commands that need one only
   sometimes. HF_INVALID when nobody says. */
HF_NODISCARD hf_status hf_cli_store_choose(hf_cli_call *call, hf_err *err);

/* Whether there is a store at call->store, and it can be read. */
HF_NODISCARD hf_status hf_cli_store_look(const hf_cli_call *call, hf_err *err);

/* A command for people to type, "holdfast show a {here}": {here} is where this call went, {verb}
   and {store} are its own, and a program's own name stands for holdfast. NULL when memory ran out.
 */
const char *hf_cli_command_text(hf_cli_call *call, const char *text);

/* Help for all commands, for a person, to `out`. */
void hf_cli_help_overview(FILE *out);

#endif
