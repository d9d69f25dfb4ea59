/* curl.c: loading libcurl. Once loaded it is the process's; the table is set under a mutex and
   never changed again. */
#include "client/curl.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/assert.h"

static const char curl_file[] = "libcurl.so.4";

static const struct {
    const char *name;
    size_t offset;
} curl_functions[] = {
    {"curl_global_init", offsetof(hf_curl, global_init)},
    {"curl_easy_init", offsetof(hf_curl, easy_init)},
    {"curl_easy_setopt", offsetof(hf_curl, easy_setopt)},
    {"curl_easy_getinfo", offsetof(hf_curl, easy_getinfo)},
    {"curl_easy_strerror", offsetof(hf_curl, easy_strerror)},
    {"curl_easy_cleanup", offsetof(hf_curl, easy_cleanup)},
    {"curl_multi_init", offsetof(hf_curl, multi_init)},
    {"curl_multi_add_handle", offsetof(hf_curl, multi_add_handle)},
    {"curl_multi_remove_handle", offsetof(hf_curl, multi_remove_handle)},
    {"curl_multi_perform", offsetof(hf_curl, multi_perform)},
    {"curl_multi_poll", offsetof(hf_curl, multi_poll)},
    {"curl_multi_wakeup", offsetof(hf_curl, multi_wakeup)},
    {"curl_multi_info_read", offsetof(hf_curl, multi_info_read)},
    {"curl_multi_cleanup", offsetof(hf_curl, multi_cleanup)},
    {"curl_slist_append", offsetof(hf_curl, slist_append)},
    {"curl_slist_free_all", offsetof(hf_curl, slist_free_all)},
};

static pthread_mutex_t curl_mutex = PTHREAD_MUTEX_INITIALIZER;
static hf_curl curl_table;
static bool curl_ready;

static hf_status table_fill(hf_curl *table, hf_err *err)
{
    void *library = dlopen(curl_file, RTLD_NOW | RTLD_LOCAL);
    const char *reason = library ? NULL : dlerror();

    if (!library)
        return hf_err_set(err, HF_NOTFOUND,
                          "talking to a server needs libcurl (install the package libcurl4): %s",
                          reason ? reason : curl_file);
    for (size_t i = 0; i < sizeof(curl_functions) / sizeof(curl_functions[0]); i++) {
        void *symbol = dlsym(library, curl_functions[i].name);

        if (!symbol)
            return hf_err_set(err, HF_NOTFOUND, "%s is too old: it has no %s", curl_file,
                              curl_functions[i].name);
        /* ISO C has no cast from an object to a function */
        memcpy((char *)table + curl_functions[i].offset, &symbol, sizeof(symbol));
    }
    if (table->global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return hf_err_set(err, HF_ERROR, "libcurl cannot be set up");
    return HF_OK;
}

hf_status hf_curl_load(const hf_curl **out_curl, hf_err *err)
{
    hf_status st = HF_OK;
    int code = pthread_mutex_lock(&curl_mutex);

    HF_ASSERT(code == 0);
    if (!curl_ready)
        st = table_fill(&curl_table, err);
    curl_ready = !st;
    *out_curl = &curl_table;
    code = pthread_mutex_unlock(&curl_mutex);
    HF_ASSERT(code == 0);
    return st;
}
