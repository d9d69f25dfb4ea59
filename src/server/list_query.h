/* list_query.h: the filters of a list of runs from a query string: every field that hf_list_filters
   names, by its name, label[NAME]=text and search_attribute[NAME]=value or
   search_attribute[NAME][gte]=value; and q, a query line. */
#ifndef HF_SERVER_LIST_QUERY_H
#define HF_SERVER_LIST_QUERY_H

#include "server/api.h"

/* What the query filters by; answers and returns false when it says something twice. `given` (may
   be NULL) are filters that count besides. */
bool hf_list_query(hf_api *api, hf_value given, hf_value *out_filters);

/* What else a list is asked for: view, order, facets, total; an object. NULL: no memory. */
hf_value hf_list_extras(hf_api *api);

#endif
