/* known.c: see known.h. */
#include "cli/known.h"

#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/value.h"
#include "server/route.h"

/* The route behind a method and a path with its query string; NULL: there is none. */
static const hf_route *route_of(const char *method, const char *path)
{
    hf_slice known = hf_slice_from(path, strcspn(path, "?"));
    unsigned methods;

    for (hf_http_method m = HF_HTTP_GET; m < HF_HTTP_METHODS; m++)
        if (strcmp(hf_http_method_text(m), method) == 0)
            return hf_route_find(m, known, &methods);
    return NULL;
}

static bool field_known(const char *fields, hf_slice name)
{
    hf_slice rest = hf_slice_of(fields);
    hf_route_field field;

    while (rest.len && hf_route_field_next(&rest, &field))
        if (hf_slice_equal(field.name, name))
            return !hf_slice_equal(field.type, HF_SLICE("refused"));
    return false;
}

hf_status hf_cli_known_fields(const char *method, const char *path, hf_value body, hf_err *err)
{
    const hf_route *route = route_of(method, path);
    hf_slice key;
    hf_value value;

    if (!route || !route->fields || !*route->fields)
        return HF_OK;
    for (size_t i = 0; hf_value_member(body, i, &key, &value); i++)
        if (!field_known(route->fields, key))
            return hf_err_set(err, HF_INVALID, "there is no field %.*s; there are: %s",
                              (int)key.len, key.ptr, route->fields);
    return HF_OK;
}

bool hf_cli_known_parameter(const char *path, hf_slice name)
{
    const hf_route *route = route_of("GET", path);

    return route && field_known(hf_route_query(route), name);
}

const char *hf_cli_known_parameters(hf_mem *mem, const char *path)
{
    const hf_route *route = route_of("GET", path);
    hf_slice rest = hf_slice_of(route ? hf_route_query(route) : "");
    hf_route_field field;
    hf_buf names = {0};
    const char *text;

    while (rest.len && hf_route_field_next(&rest, &field))
        hf_buf_add_format(&names, "%s%.*s", names.len ? ", " : "", (int)field.name.len,
                          field.name.ptr);
    text = hf_buf_ok(&names) ? hf_mem_text(mem, hf_buf_slice(&names)) : NULL;
    hf_buf_fini(&names);
    return text ? text : "";
}
