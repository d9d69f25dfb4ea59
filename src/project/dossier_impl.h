/* dossier_impl.h: the inside of the dossier, for dossier.c and dossier_rows.c alone. */
#ifndef HF_PROJECT_DOSSIER_IMPL_H
#define HF_PROJECT_DOSSIER_IMPL_H

#include "project/dossier.h"

/* Open work that is not a task: activities, timers, children, facts from other runs. */
HF_NODISCARD hf_status hf_dossier_rows(hf_db *db, hf_mem *mem, hf_dossier *dossier, hf_err *err);

#endif
