/* builder.h: a C file as a program, for holdfast dev: compiled with the machine's own compiler
   against the library that this program came with, and again whenever the file has changed. */
#ifndef HF_CLI_BUILDER_H
#define HF_CLI_BUILDER_H

#include <stdbool.h>

#include "base/attr.h"
#include "base/err.h"
#include "base/mem.h"

typedef struct hf_builder hf_builder;

/* Whether the word names such a file. */
bool hf_builder_is_source(const char *word);

/* In the arena; the program is made in `folder`, which must be there. Headers and library are those
   of the folder that this program is installed in; HF_CC_FLAGS, words separated by spaces, says
   otherwise. CC names the compiler. HF_NOTFOUND, HF_NOMEM. */
HF_NODISCARD hf_status hf_builder_new(hf_mem *mem, const char *source, const char *folder,
                                      hf_builder **out_builder, hf_err *err);

/* Where the program is. */
const char *hf_builder_program(const hf_builder *builder);

/* Compiles; the compiler's words go to standard error. HF_ERROR: it refused the file, and the
   program is what it was before. */
HF_NODISCARD hf_status hf_builder_build(hf_builder *builder, hf_err *err);

/* Whether the file is another than the one that was last compiled. */
bool hf_builder_changed(const hf_builder *builder);

#endif
