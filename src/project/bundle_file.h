/* bundle_file.h: a history bundle that is too big to be in memory: its text is read where it is
   needed, value by value. Opening passes over all of it once, checks that it is JSON whose sections
   and their members are ordered by name, and makes the checksum on the way. Deeper objects may have
   any order: it is what a payload was stored with. One thread. */
#ifndef HF_PROJECT_BUNDLE_FILE_H
#define HF_PROJECT_BUNDLE_FILE_H

#include "base/crypto.h"
#include "base/json_scan.h"
#include "base/mem.h"
#include "base/value.h"

enum {
    HF_BUNDLE_NAME_MAX = 48,       /* of a section that can be found, with its NUL */
    HF_BUNDLE_SECTIONS_MAX = 64,   /* that can be found */
    HF_BUNDLE_VALUE_MAX = 16 << 20 /* bytes of what is read into memory at a time */
};

/* Where the text is. */
typedef struct hf_bundle_source {
    hf_json_scan_fn *read;
    void *ctx;
    int64_t size;
} hf_bundle_source;

typedef struct hf_bundle_section {
    char name[HF_BUNDLE_NAME_MAX];
    hf_value_kind kind;
    bool empty; /* a list or an object without anything in it */
    int64_t at;
} hf_bundle_section;

typedef struct hf_bundle_file {
    hf_bundle_source source;
    bool sorted; /* false: members are not in order, and nothing else here is known */
    hf_bundle_section sections[HF_BUNDLE_SECTIONS_MAX];
    size_t count;
    char checksum[HF_SHA256_TEXT_SIZE];
    char signature[HF_SHA256_TEXT_SIZE]; /* empty without a key */
} hf_bundle_file;

/* `key` signs (ptr NULL: none). The canonical text goes to `canonical` as well, unless that is
   NULL. HF_INVALID when the text is no JSON object, HF_TOOBIG for a value that is bigger than any
   reader takes, and what the source says. */
HF_NODISCARD hf_status hf_bundle_file_open(const hf_bundle_source *source, hf_slice key,
                                           hf_buf *canonical, hf_bundle_file *out_file,
                                           hf_err *err);

/* NULL: there is none of that name. */
const hf_bundle_section *hf_bundle_file_section(const hf_bundle_file *file, hf_slice name);

/* The value at a path ("workflow.run_id", "holdfast.units.3"); NULL when there is none. HF_TOOBIG
   over `most` bytes. */
HF_NODISCARD hf_status hf_bundle_file_get(const hf_bundle_file *file, hf_mem *mem, hf_slice path,
                                          size_t most, hf_value *out_value, hf_err *err);

/* Whether there is anything but null at the path, however big it is. */
HF_NODISCARD hf_status hf_bundle_file_has(const hf_bundle_file *file, hf_slice path,
                                          bool *out_there, hf_err *err);

/* The items of a list, one after the other. */
typedef struct hf_bundle_list hf_bundle_list;

/* NULL in *out_list: there is no list at that path. */
HF_NODISCARD hf_status hf_bundle_list_open(const hf_bundle_file *file, hf_slice path,
                                           hf_bundle_list **out_list, hf_err *err);
void hf_bundle_list_close(hf_bundle_list *list); /* NULL is allowed */

/* The next item, in `mem`; NULL in *out_item at the end. With `mem` NULL it is passed over, and the
   item is any value. */
HF_NODISCARD hf_status hf_bundle_list_next(hf_bundle_list *list, hf_mem *mem, hf_value *out_item,
                                           hf_err *err);

/* Items that were handed out or passed over. */
int64_t hf_bundle_list_count(const hf_bundle_list *list);

#endif
