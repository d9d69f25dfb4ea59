/* assetgen.c: turns the files of the console into C. Run by the build:

     assetgen OUT.c PAGE.html FILE ...

   A file NAME.EXT is served as NAME-HASH.EXT, compressed, and may be kept for ever; {NAME.EXT} in
   the page becomes that name. The page itself stays as it is: {up} in it is filled when it is
   served (src/server/console.h). The same files make the same bytes. */
#include <openssl/sha.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum { FILES_MAX = 16, NAME_BYTES = 128, HASH_BYTES = 8, MEM_LEVEL_MIN = 4, MEM_LEVEL_MAX = 9 };

typedef struct bytes {
    unsigned char *at;
    size_t len;
} bytes;

typedef struct asset {
    const char *name;        /* app.js */
    char served[NAME_BYTES]; /* app-0123456789abcdef.js */
    size_t plain_len;
    bytes packed;
} asset;

__attribute__((format(printf, 1, 2), noreturn)) static void die(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    (void)fputs("assetgen: ", stderr);
    (void)vfprintf(stderr, format, args);
    (void)fputc('\n', stderr);
    va_end(args);
    exit(1);
}

static bytes file_read(const char *path)
{
    FILE *file = fopen(path, "rb");
    bytes out = {0};
    long size = 0;

    if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0 || fseek(file, 0, SEEK_SET))
        die("cannot read %s", path);
    out.len = (size_t)size;
    out.at = calloc(1, out.len + 1);
    if (!out.at || fread(out.at, 1, out.len, file) != out.len)
        die("cannot read %s", path);
    (void)fclose(file);
    return out;
}

static bytes pack_with(bytes plain, int mem_level, const char *name)
{
    z_stream stream = {0};
    bytes out = {.len = compressBound((uLong)plain.len) + 64};

    out.at = malloc(out.len);
    if (!out.at ||
        deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, mem_level, Z_DEFAULT_STRATEGY) != Z_OK)
        die("no memory for %s", name);
    stream.next_in = plain.at;
    stream.avail_in = (uInt)plain.len;
    stream.next_out = out.at;
    stream.avail_out = (uInt)out.len;
    if (deflate(&stream, Z_FINISH) != Z_STREAM_END)
        die("cannot compress %s", name);
    out.len -= stream.avail_out;
    (void)deflateEnd(&stream);
    return out;
}

/* The size of zlib's buffers decides where its blocks end, and no size is the best for every file:
   the shortest of all is taken. */
static bytes pack(bytes plain, const char *name)
{
    bytes best = pack_with(plain, MEM_LEVEL_MAX, name);

    for (int level = MEM_LEVEL_MIN; level < MEM_LEVEL_MAX; level++) {
        bytes one = pack_with(plain, level, name);

        if (one.len < best.len) {
            free(best.at);
            best = one;
        } else {
            free(one.at);
        }
    }
    return best;
}

static const char *type_of(const char *name)
{
    static const char *const types[][2] = {{".js", "text/javascript; charset=utf-8"},
                                           {".css", "text/css; charset=utf-8"},
                                           {".html", "text/html; charset=utf-8"},
                                           {".svg", "image/svg+xml"},
                                           {".txt", "text/plain; charset=utf-8"}};
    const char *dot = strrchr(name, '.');

    for (size_t i = 0; dot && i < sizeof(types) / sizeof(types[0]); i++)
        if (strcmp(types[i][0], dot) == 0)
            return types[i][1];
    die("%s: the type of such a file is not known", name);
}

static asset asset_read(const char *path)
{
    const char *slash = strrchr(path, '/');
    bytes plain = file_read(path);
    asset out = {.name = slash ? slash + 1 : path, .plain_len = plain.len};
    const char *dot = strrchr(out.name, '.');
    unsigned char digest[SHA256_DIGEST_LENGTH];
    int len;

    if (!dot)
        die("%s has no ending", path);
    (void)SHA256(plain.at, plain.len, digest);
    len = snprintf(out.served, sizeof(out.served), "%.*s-", (int)(dot - out.name), out.name);
    for (int i = 0; i < HASH_BYTES && len > 0 && (size_t)len < sizeof(out.served); i++)
        len += snprintf(out.served + len, sizeof(out.served) - (size_t)len, "%02x", digest[i]);
    if (len < 0 || (size_t)len + strlen(dot) >= sizeof(out.served))
        die("the name of %s is too long", path);
    (void)snprintf(out.served + len, sizeof(out.served) - (size_t)len, "%s", dot);
    out.packed = pack(plain, out.name);
    free(plain.at);
    return out;
}

/* Writes `data` and frees it. */
static void array_write(FILE *out, const char *name, size_t at, bytes data)
{
    (void)fprintf(out, "static const unsigned char %s%zu[] = {", name, at);
    for (size_t i = 0; i < data.len; i++)
        (void)fprintf(out, "%s%u,", i % 24 ? "" : "\n", data.at[i]);
    (void)fputs("0};\n", out);
    free(data.at);
}

/* The page at `path`, with the names that its files are served under. */
static bytes page_fill(const char *path, const asset *files, size_t count)
{
    bytes page = file_read(path);
    bytes out = {.at = calloc(1, page.len + (count + 1) * NAME_BYTES * 4)};
    const char *at = (const char *)page.at;

    if (!out.at)
        die("no memory for the page");
    while (*at) {
        size_t found = count;

        for (size_t i = 0; i < count && *at == '{' && found == count; i++) {
            size_t len = strlen(files[i].name);

            if (strncmp(at + 1, files[i].name, len) == 0 && at[len + 1] == '}')
                found = i;
        }
        if (found < count) {
            memcpy(out.at + out.len, files[found].served, strlen(files[found].served));
            out.len += strlen(files[found].served);
            at += strlen(files[found].name) + 2;
        } else {
            out.at[out.len++] = (unsigned char)*at++;
        }
    }
    free(page.at);
    return out;
}

int main(int argc, char **argv)
{
    asset files[FILES_MAX];
    size_t count = argc > 3 ? (size_t)argc - 3 : 0;
    FILE *out;

    if (argc < 3 || count > FILES_MAX)
        die("usage: assetgen OUT.c PAGE.html FILE ...");
    for (size_t i = 0; i < count; i++)
        files[i] = asset_read(argv[i + 3]);
    out = fopen(argv[1], "wb");
    if (!out)
        die("cannot write %s", argv[1]);
    (void)fputs("/* Made by tools/assetgen.c from console/. */\n#include \"server/console.h\"\n\n",
                out);
    array_write(out, "page", 0, page_fill(argv[2], files, count));
    for (size_t i = 0; i < count; i++)
        array_write(out, "file", i, files[i].packed);
    (void)fputs("\nconst hf_slice hf_console_page = {(const char *)page0, sizeof(page0) - 1};\n"
                "const hf_console_file hf_console_files[] = {\n",
                out);
    for (size_t i = 0; i < count; i++)
        (void)fprintf(out,
                      "    {\"%s\", \"%s\", {(const char *)file%zu, sizeof(file%zu) - 1}, %zu},\n",
                      files[i].served, type_of(files[i].name), i, i, files[i].plain_len);
    (void)fprintf(out, "    {0, 0, {0, 0}, 0}};\nconst size_t hf_console_file_count = %zu;\n",
                  count);
    if (fclose(out))
        die("cannot write %s", argv[1]);
    return 0;
}
