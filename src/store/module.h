/* module.h: the PostgreSQL driver, which lives in a module of its own so that users of SQLite never
   load libpq. */
#ifndef HF_STORE_MODULE_H
#define HF_STORE_MODULE_H

#include "base/err.h"
#include "store/db.h"

/* The driver of holdfast-postgres.so. It is looked for in the folder that the environment variable
   HF_MODULE_DIR names, beside the program or library that this code is in, in holdfast/ beside that
   and in ../lib/holdfast/. It is loaded once and stays. Any thread may call it. HF_NOTFOUND when
   there is no such file, HF_ERROR when it does not load or belongs to another version. */
HF_NODISCARD hf_status hf_module_postgres(const hf_db_driver **out_driver, hf_err *err);

#endif
