/* builder.c: see builder.h. */
#include "cli/builder.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/slice.h"

enum { WORDS_MAX = 64, PATH_BYTES = 4096 };

struct hf_builder {
    const char *source;
    const char *program;
    const char *fresh; /* where the compiler writes */
    char *words[WORDS_MAX];
    struct timespec built; /* when the file that was compiled last was changed */
    off_t size;
};

bool hf_builder_is_source(const char *word)
{
    size_t len = strlen(word);

    return len > 2 && strcmp(word + len - 2, ".c") == 0;
}

const char *hf_builder_program(const hf_builder *builder)
{
    return builder->program;
}

/* The folder above the one that this program is in: PREFIX of PREFIX/bin/holdfast. */
static const char *prefix_find(hf_mem *mem)
{
    char self[PATH_BYTES];
    ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *slash;

    if (len <= 0)
        return NULL;
    self[len] = '\0';
    for (int i = 0; i < 2; i++) {
        slash = strrchr(self, '/');
        if (!slash)
            return NULL;
        *slash = '\0';
    }
    return hf_mem_text(mem, hf_slice_of(self));
}

static hf_status word_add(hf_builder *builder, size_t *count, char *word, hf_err *err)
{
    if (!word)
        return hf_err_nomem(err, "the compiler's words");
    if (*count + 1 == WORDS_MAX)
        return hf_err_set(err, HF_INVALID, "HF_CC_FLAGS has too many words");
    builder->words[(*count)++] = word;
    return HF_OK;
}

static hf_status flags_add(hf_builder *builder, hf_mem *mem, size_t *count, hf_err *err)
{
    const char *given = getenv("HF_CC_FLAGS");
    const char *prefix = prefix_find(mem);
    hf_slice rest;
    hf_slice word;
    hf_status st = HF_OK;

    if (!given || !*given)
        given = prefix ? hf_mem_format(mem, "-I%s/include -L%s/lib -Wl,-rpath,%s/lib -lholdfast",
                                       prefix, prefix, prefix)
                       : "-lholdfast";
    if (!given)
        return hf_err_nomem(err, "the compiler's words");
    rest = hf_slice_of(given);
    while (!st && hf_slice_split(&rest, ' ', &word))
        if (word.len)
            st = word_add(builder, count, hf_mem_text(mem, word), err);
    return st;
}

hf_status hf_builder_new(hf_mem *mem, const char *source, const char *folder,
                         hf_builder **out_builder, hf_err *err)
{
    const char *compiler = getenv("CC");
    const char *name = strrchr(source, '/') ? strrchr(source, '/') + 1 : source;
    hf_builder *builder = hf_mem_alloc(mem, sizeof(*builder));
    size_t count = 0;
    hf_status st;

    *out_builder = NULL;
    if (!builder)
        return hf_err_nomem(err, "a compiler");
    if (access(source, R_OK) < 0)
        return hf_err_set(err, HF_NOTFOUND, "cannot read %s: %s", source, strerror(errno));
    builder->source = hf_mem_text(mem, hf_slice_of(source));
    builder->program = hf_mem_format(mem, "%s/%.*s", folder, (int)strlen(name) - 2, name);
    builder->fresh = hf_mem_format(mem, "%s/%.*s.new", folder, (int)strlen(name) - 2, name);
    if (!builder->source || !builder->program || !builder->fresh)
        return hf_err_nomem(err, "a compiler");
    st = word_add(builder, &count,
                  hf_mem_text(mem, hf_slice_of(compiler && *compiler ? compiler : "cc")), err);
    for (const char *const *word = (const char *const[]){"-std=c17", "-g", "-o", NULL};
         !st && *word; word++)
        st = word_add(builder, &count, hf_mem_text(mem, hf_slice_of(*word)), err);
    if (!st)
        st = word_add(builder, &count, hf_mem_text(mem, hf_slice_of(builder->fresh)), err);
    if (!st)
        st = word_add(builder, &count, hf_mem_text(mem, hf_slice_of(builder->source)), err);
    if (!st)
        st = flags_add(builder, mem, &count, err);
    if (!st)
        *out_builder = builder;
    return st;
}

hf_status hf_builder_build(hf_builder *builder, hf_err *err)
{
    extern char **environ;
    struct stat info;
    pid_t pid = 0;
    int status = 0;
    int failed;

    /* Looked at before it is compiled: a change in between is seen the next time. */
    if (stat(builder->source, &info) < 0)
        return hf_err_set(err, HF_NOTFOUND, "cannot read %s: %s", builder->source, strerror(errno));
    builder->built = info.st_mtim;
    builder->size = info.st_size;
    failed = posix_spawnp(&pid, builder->words[0], NULL, NULL, builder->words, environ);
    if (failed)
        return hf_err_set(err, HF_NOTFOUND, "cannot run the compiler %s: %s", builder->words[0],
                          strerror(failed));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        return hf_err_set(err, HF_ERROR, "%s was not compiled", builder->source);
    /* Another file: the program that runs keeps its own. */
    return rename(builder->fresh, builder->program) < 0
               ? hf_err_set(err, HF_IO, "cannot write %s: %s", builder->program, strerror(errno))
               : HF_OK;
}

bool hf_builder_changed(const hf_builder *builder)
{
    struct stat info;

    return stat(builder->source, &info) == 0 &&
           (info.st_mtim.tv_sec != builder->built.tv_sec ||
            info.st_mtim.tv_nsec != builder->built.tv_nsec || info.st_size != builder->size);
}
