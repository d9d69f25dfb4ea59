/* look.h: reads that an engine and a reader without one have in common. Through whatever connection
   they are given; they write nothing. */
#ifndef HF_ENGINE_LOOK_H
#define HF_ENGINE_LOOK_H

#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/value.h"
#include "engine/call.h"
#include "engine/fleet.h"
#include "project/list.h"
#include "project/part.h"
#include "project/views.h"
#include "store/db.h"

/* Fills in what a list needs to know of the world to say what moves runs on. `engine` NULL: none is
   there. `who` lives as long as the query. */
HF_NODISCARD hf_status hf_look_asker(const hf_engine *engine, hf_db *db, hf_mem *mem, hf_asker *who,
                                     hf_list_query *io_query, hf_err *err);

/* Members of requests. */
#define HF_LOOK_LIST                                                                               \
    "filters q view bucket limit order cursor facets total hist definition owner scope"
#define HF_LOOK_RUN       "id run_id at limit"
#define HF_LOOK_PART_MORE " part after before kinds q order step depth event key from size"
#define HF_LOOK_PART      HF_LOOK_RUN HF_LOOK_PART_MORE
#define HF_LOOK_OPENED    "at limit" HF_LOOK_PART_MORE

/* Whether a request is an object, and every member of it one of `known`, words separated by spaces;
   null is as good as absent. HF_INVALID names the one that is not, and those that there are. */
HF_NODISCARD hf_status hf_look_members(hf_value request, const char *known, hf_err *err);

/* A text of a request; empty: there is none. */
hf_slice hf_look_member(hf_value request, const char *name);

/* Begins a call that returns a value; `known` are the members of its request. */
HF_NODISCARD hf_status hf_look_begin(hf_call *call, hf_engine *engine, hf_value request,
                                     const char *known, const hf_mem *mem, hf_value *out);

/* Whose views a request means. */
hf_views_reader hf_look_reader(int64_t namespace_key, hf_value request);

/* Whether filters, with a query line among them as `q`, can be asked for. HF_INVALID. */
HF_NODISCARD hf_status hf_look_filters_check(hf_mem *mem, hf_value given, int64_t now_us,
                                             hf_err *err);

/* A page of runs; see hf_list_runs. */
HF_NODISCARD hf_status hf_look_list(hf_db *db, const hf_engine *engine, int64_t namespace_key,
                                    hf_value request, hf_mem *mem, hf_value *out_page, hf_err *err);

/* Events of a run behind `after`, at most `limit` (0: all), as it was after `at` (0: as it is); see
   hf_history. */
HF_NODISCARD hf_status hf_look_history(hf_db *db, hf_mem *mem, int64_t run, int64_t after,
                                       int64_t limit, int64_t at, hf_value *out, hf_err *err);

/* See hf_namespaces and hf_tokens. `engine`: gets to know the namespaces; may be NULL. */
HF_NODISCARD hf_status hf_look_namespaces(hf_db *db, hf_engine *engine, hf_mem *mem, hf_value *out,
                                          hf_err *err);
HF_NODISCARD hf_status hf_look_tokens(hf_db *db, hf_mem *mem, hf_value *out, hf_err *err);

/* The part of a run that a request means. HF_INVALID for a kind of events that is none. */
HF_NODISCARD hf_status hf_look_part(hf_value request, const hf_detail_query *query,
                                    hf_part_query *out_part, hf_err *err);

/* Ends a question: copies the answer to the caller's arena, unless `st` says that there is none,
   and frees what was needed on the way. */
HF_NODISCARD hf_status hf_look_give(hf_mem *mem, hf_value answer, hf_status st, hf_value *out,
                                    hf_mem *work, hf_err *err);

#endif
