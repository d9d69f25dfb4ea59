/* settings.h: what is set, and by whom. A flag wins over the environment, the environment over the
   file, the file over the default. The table is setting.def. */
#ifndef HF_CLI_SETTINGS_H
#define HF_CLI_SETTINGS_H

#include "base/attr.h"
#include "base/mem.h"
#include "cli/command.h"

typedef enum hf_cli_setting_id {
#define HF_CLI_SETTING(id, name, env, flag, otherwise, sentence) id,
#include "cli/setting.def"
#undef HF_CLI_SETTING
    HF_CLI_SETTING_COUNT
} hf_cli_setting_id;

typedef struct hf_cli_setting {
    const char *name;
    const char *env;
    hf_cli_flag_id flag;
    const char *otherwise; /* NULL: unset */
    const char *sentence;
} hf_cli_setting;

typedef struct hf_cli_settings {
    const char *value[HF_CLI_SETTING_COUNT];  /* NULL when unset; borrowed or in the arena */
    const char *source[HF_CLI_SETTING_COUNT]; /* "default", "flag --schema", "FILE:3", ... */
} hf_cli_settings;

const hf_cli_setting *hf_cli_setting_at(hf_cli_setting_id id);

/* Fills `out_settings`; `flags` is by hf_cli_flag_id. Flags and environment are in it even when the
   file fails. HF_INVALID (a value that is not one of the choices, a line of the file that is not
   understood), HF_NOTFOUND (the file of --config), HF_DENIED, HF_IO, HF_NOMEM. */
HF_NODISCARD hf_status hf_cli_settings_load(hf_mem *mem, const char *const *flags,
                                            hf_cli_settings *out_settings, hf_err *err);

/* A copy of an address, as UTF-8, with every password in it replaced by ***. *out_secret (may be
   NULL) says whether there was one. NULL when memory ran out. */
HF_NODISCARD const char *hf_cli_address_mask(hf_mem *mem, const char *address, bool *out_secret);

#endif
