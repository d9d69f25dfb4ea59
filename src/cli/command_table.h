/* command_table.h: what the rows of the table are written with. For the files that hold rows. */
#ifndef HF_CLI_COMMAND_TABLE_H
#define HF_CLI_COMMAND_TABLE_H

#include "cli/command.h"

#define BIT(id)  (UINT64_C(1) << (id))      /* the first 64 flags */
#define MORE(id) (UINT64_C(1) << ((id)-64)) /* the others, but for those of all commands */
#define FORM(id) (1U << (id))

#define FLAGS_COMMON BIT(HF_CLI_FLAG_JSON)
#define FLAGS_SERVER                                                                               \
    (BIT(HF_CLI_FLAG_STORE) | BIT(HF_CLI_FLAG_LISTEN) | BIT(HF_CLI_FLAG_AUTH) |                    \
     BIT(HF_CLI_FLAG_TLS_CERT) | BIT(HF_CLI_FLAG_TLS_KEY) | BIT(HF_CLI_FLAG_ALLOW_HOST) |          \
     BIT(HF_CLI_FLAG_BEHIND_PROXY) | BIT(HF_CLI_FLAG_INSECURE) | BIT(HF_CLI_FLAG_SCHEMA) |         \
     BIT(HF_CLI_FLAG_WEBHOOKS) | BIT(HF_CLI_FLAG_STORAGE))
#define FORMATS_ROWS   (FORM(HF_CLI_TABLE) | FORM(HF_CLI_JSON) | FORM(HF_CLI_JSONL))
#define FORMATS_RESULT (FORM(HF_CLI_TABLE) | FORM(HF_CLI_JSON) | FORM(HF_CLI_NONE))
#define FORMATS_LIST                                                                               \
    (FORMATS_ROWS | FORM(HF_CLI_WIDE) | FORM(HF_CLI_CSV) | FORM(HF_CLI_NAME) | FORM(HF_CLI_NONE))
#define FLAGS_TARGET                                                                               \
    (FLAGS_COMMON | BIT(HF_CLI_FLAG_URL) | BIT(HF_CLI_FLAG_STORE) | BIT(HF_CLI_FLAG_SCHEMA) |      \
     BIT(HF_CLI_FLAG_NAMESPACE) | BIT(HF_CLI_FLAG_TOKEN_FILE) | BIT(HF_CLI_FLAG_TOKEN_ENV))

/* What can go wrong wherever a verb goes. */
#define EXITS_TARGET                                                                               \
    {HF_CLI_EXIT_FAILED, NULL}, {HF_CLI_EXIT_USAGE, NULL}, {HF_CLI_EXIT_UNREACHABLE, NULL},        \
        {HF_CLI_EXIT_DENIED, NULL}, {HF_CLI_EXIT_SERVER, NULL}, {HF_CLI_EXIT_TIMEOUT, NULL},       \
        {HF_CLI_EXIT_VERSION, NULL}, {HF_CLI_EXIT_NOTASTORE, NULL}, {HF_CLI_EXIT_NEWER, NULL},     \
    {                                                                                              \
        HF_CLI_EXIT_PIPE, NULL                                                                     \
    }
/* The same for a look at one run, one that is waited for, and a change. */
#define EXIT_NO_RUN                                                                                \
    {                                                                                              \
        HF_CLI_EXIT_NOTFOUND, "there is no such workflow, namespace or store"                      \
    }
#define EXITS_LOOK {HF_CLI_EXIT_OK, NULL}, EXIT_NO_RUN, EXITS_TARGET
#define EXITS_END                                                                                  \
    {HF_CLI_EXIT_RUN_FAILED, NULL}, {HF_CLI_EXIT_RUN_STOPPED, NULL},                               \
    {                                                                                              \
        HF_CLI_EXIT_INTERRUPTED, NULL                                                              \
    }
#define EXITS_CHANGE                                                                               \
    {HF_CLI_EXIT_OK, NULL},                                                                        \
        {HF_CLI_EXIT_REJECTED,                                                                     \
         "the engine refused it: closed, not the newest run, duplicate, no such name"},            \
        {HF_CLI_EXIT_OWNED, "the store is owned by another engine: ask its server"}, EXITS_TARGET
#define EXITS_NOUN                                                                                 \
    {HF_CLI_EXIT_OK, NULL}, {HF_CLI_EXIT_NOTFOUND, "there is no such thing, or no such store"},    \
        {HF_CLI_EXIT_REJECTED, NULL},                                                              \
        {HF_CLI_EXIT_OWNED, "the store is owned by another engine: ask its server"}, EXITS_TARGET

/* What is said of every verb that changes a store. */
#define TEXT_STORE                                                                                 \
    "\n\nA store that is named with --store is opened for it; while a server owns that store, "    \
    "ask the server."

#endif
