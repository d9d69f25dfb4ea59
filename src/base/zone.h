/* zone.h: time zones of the IANA database, read from the system's compiled files (RFC 8536), which
   name every change of a zone's offset and the rule for the years after the last of them. "UTC"
   needs no file. Nothing here looks at TZ or sets it: two zones may be in use in one process.

   A local time is the number of seconds that a clock on the wall shows since 1970-01-01 00:00. */
#ifndef HF_BASE_ZONE_H
#define HF_BASE_ZONE_H

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/slice.h"

typedef struct hf_zone hf_zone;

/* Reads a zone ("Europe/Berlin") into the arena. HF_INVALID: there is no such zone, or its file is
   not one; HF_IO, HF_NOMEM. */
HF_NODISCARD hf_status hf_zone_load(hf_mem *mem, hf_slice name, const hf_zone **out_zone,
                                    hf_err *err);

/* The same from the bytes of a compiled file. */
HF_NODISCARD hf_status hf_zone_read(hf_mem *mem, hf_slice bytes, const hf_zone **out_zone,
                                    hf_err *err);

/* Seconds that the zone is ahead of UTC at this moment (seconds since 1970, UTC). */
int32_t hf_zone_offset(const hf_zone *zone, int64_t utc_s);

/* The moment at which the zone's clocks show a local time. One that they show twice, when clocks
   are set back, means the first time; one that they skip means the first moment after the gap. */
int64_t hf_zone_utc(const hf_zone *zone, int64_t local_s);

#endif
