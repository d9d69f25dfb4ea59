/* imported.h: runs of other stores, kept as the bundles they left them in. They are never worked
   on, replayed by the engine, listed among its own runs or changed; whoever reads one gets the text
   back byte by byte. */
#ifndef HF_ENGINE_IMPORTED_H
#define HF_ENGINE_IMPORTED_H

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/slice.h"
#include "store/db.h"

/* The text of the newest import with that run id or instance id, in the arena, its digest checked.
   HF_NOTFOUND, HF_CORRUPT. */
HF_NODISCARD hf_status hf_imported_read(hf_db *db, hf_mem *mem, int64_t namespace_key,
                                        hf_slice name, hf_slice *out_text, hf_err *err);

#endif
