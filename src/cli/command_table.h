/* command_table.h: what the rows of the table are written with. For the files that hold rows. */
#ifndef HF_CLI_COMMAND_TABLE_H
#define HF_CLI_COMMAND_TABLE_H

#include "cli/command.h"

#define BIT(id)  (UINT64_C(1) << (id))
#define FORM(id) (1U << (id))

#define FLAGS_COMMON                                                                               \
    (BIT(HF_CLI_FLAG_HELP) | BIT(HF_CLI_FLAG_OUTPUT) | BIT(HF_CLI_FLAG_JSON) |                     \
     BIT(HF_CLI_FLAG_COLOR) | BIT(HF_CLI_FLAG_CONFIG) | BIT(HF_CLI_FLAG_DEBUG))
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

#endif
