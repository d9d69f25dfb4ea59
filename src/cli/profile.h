/* profile.h: named sets of settings in profiles.ini beside the settings file: where to go and as
   whom. HF_PROFILE names one, or `profile use` did. A name that is not there is an error. */
#ifndef HF_CLI_PROFILE_H
#define HF_CLI_PROFILE_H

#include "cli/settings.h"

/* What the chosen profile says for settings that neither a flag nor the environment set; nothing
   when none is chosen. HF_NOTFOUND: there is no such profile. */
HF_NODISCARD hf_status hf_cli_profile_apply(hf_mem *mem, hf_cli_settings *settings, hf_err *err);

#endif
