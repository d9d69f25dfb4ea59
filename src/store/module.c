/* module.c: loading the PostgreSQL driver. Once loaded it is the process's, as any shared library
   is; the pointer to it is the only state here, set under a mutex and never changed again. */
#define _GNU_SOURCE /* dladdr1, secure_getenv */
#include "store/module.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/buf.h"
#include "base/fault.h"

static const char module_file[] = "holdfast-postgres.so";

/* Where it may be, relative to the folder of the program or library. */
static const char *const module_folders[] = {"", "holdfast/", "../lib/holdfast/"};

static pthread_mutex_t module_mutex = PTHREAD_MUTEX_INITIALIZER;
static const hf_db_driver *module_driver;

static void *fault_state(void)
{
#ifdef HF_FAULT
    return hf_fault_shared();
#else
    return NULL;
#endif
}

/* The folder of whatever contains this code, with a slash at the end; false when it is unknown. */
static bool folder_own(hf_buf *out)
{
    char program[4096];
    void *(*code)(void) = fault_state;
    void *address = NULL;
    struct link_map *map = NULL;
    Dl_info info;
    const char *path;
    const char *slash;

    memcpy(&address, &code, sizeof(address)); /* ISO C has no cast from a function to an object */
    if (dladdr1(address, &info, (void **)&map, RTLD_DL_LINKMAP) == 0 || !map)
        return false;
    path = map->l_name;
    if (*path == '\0') { /* the program itself, whose name in argv may be anything */
        ssize_t len = readlink("/proc/self/exe", program, sizeof(program) - 1);

        program[len > 0 ? len : 0] = '\0';
        path = program;
    }
    slash = strrchr(path, '/');
    if (!slash)
        return false;
    hf_buf_add(out, path, (size_t)(slash - path) + 1);
    return true;
}

/* Puts the path of the module into `out`; false when it is nowhere. */
static bool module_find(hf_buf *out)
{
    const char *dir = secure_getenv("HF_MODULE_DIR");
    size_t base;

    if (dir && *dir) {
        hf_buf_add_format(out, "%s/%s", dir, module_file);
        if (hf_buf_ok(out) && access(hf_buf_text(out), F_OK) == 0)
            return true;
        hf_buf_clear(out);
    }
    if (!folder_own(out))
        return false;
    base = out->len;
    for (size_t i = 0; i < sizeof(module_folders) / sizeof(module_folders[0]); i++) {
        out->len = base;
        hf_buf_add_text(out, module_folders[i]);
        hf_buf_add_text(out, module_file);
        if (!hf_buf_ok(out) || access(hf_buf_text(out), F_OK) == 0)
            return hf_buf_ok(out);
    }
    out->len = base;
    hf_buf_add_text(out, "");
    return false;
}

static hf_status module_open(const char *path, const hf_db_driver **out_driver, hf_err *err)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *reason = library ? NULL : dlerror();
    const hf_db_driver *driver;
    hf_db_module_fn *entry = NULL;
    void *symbol;

    if (!library)
        return hf_err_set(err, HF_ERROR,
                          "the PostgreSQL driver cannot be loaded (is libpq installed?): %s",
                          reason ? reason : path);
    symbol = dlsym(library, HF_DB_MODULE_SYMBOL);
    if (!symbol)
        return hf_err_set(err, HF_ERROR, "%s is not a Holdfast driver: it has no %s", path,
                          HF_DB_MODULE_SYMBOL);
    memcpy(&entry, &symbol, sizeof(entry));
    driver = entry(fault_state());
    if (!driver || driver->size != sizeof(*driver))
        return hf_err_set(err, HF_ERROR,
                          "%s belongs to another version of Holdfast: install both of one version",
                          path);
    *out_driver = driver;
    return HF_OK;
}

static hf_status module_load(const hf_db_driver **out_driver, hf_err *err)
{
    hf_buf path = {0};
    hf_status st;

    if (module_find(&path))
        st = module_open(hf_buf_text(&path), out_driver, err);
    else if (path.failed)
        st = hf_err_nomem(err, "the path of a module");
    else
        st = hf_err_set(err, HF_NOTFOUND,
                        "the PostgreSQL driver %s was not found beside the program nor in "
                        "../lib/holdfast: install the "
                        "package holdfast-postgres, or set HF_MODULE_DIR to its folder",
                        module_file);
    hf_buf_fini(&path);
    return st;
}

hf_status hf_module_postgres(const hf_db_driver **out_driver, hf_err *err)
{
    hf_status st = HF_OK;
    int code = pthread_mutex_lock(&module_mutex);

    HF_ASSERT(code == 0);
    if (!module_driver)
        st = module_load(&module_driver, err);
    *out_driver = module_driver;
    code = pthread_mutex_unlock(&module_mutex);
    HF_ASSERT(code == 0);
    return st;
}
