/* nearest.h: the .holdfast folder that holdfast dev keeps its data in, found from the working
   folder upwards, so that verbs need no address while somebody develops. While dev serves, a file
   in it says where and has a credential; only its owner may read it. */
#ifndef HF_CLI_NEAREST_H
#define HF_CLI_NEAREST_H

#include "cli/verbs.h"

#define HF_CLI_DEV_FOLDER ".holdfast"
#define HF_CLI_DEV_STORE  HF_CLI_DEV_FOLDER "/dev.db"

/* Sets call->store (and found_token): the server of the nearest folder, or its store, or the store
   of the program that this is, or the address that servers have by default. */
HF_NODISCARD hf_status hf_cli_nearest_find(hf_cli_call *call, hf_err *err);

/* Says in the folder below the working folder where the server is and whom to trust that it is the
   one (NULL: nobody in particular), and takes it back. */
HF_NODISCARD hf_status hf_cli_nearest_write(const char *url, const char *token, const char *ca,
                                            hf_err *err);
void hf_cli_nearest_remove(void);

#endif
