/* Files that outlive a process: what dead processes left is told once, what live ones use is left
   alone. */
#include "engine/crumb_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/suite.h"

static char folder[] = "/tmp/hf_crumb_XXXXXX";
static int told;

static void folder_make(void)
{
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ck_assert_int_eq(setenv("XDG_STATE_HOME", folder, 1), 0);
    told = 0;
}

static void tell(void *ctx, const char *path)
{
    char bytes[4];

    (void)ctx;
    ck_assert(hf_crumb_file_read(path, bytes, sizeof(bytes)));
    ck_assert_mem_eq(bytes, "left", 4);
    told++;
}

/* What another process with this pid and number left. */
static void leave(long pid, int number)
{
    char path[HF_CRUMB_PATH];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/holdfast", folder);
    (void)mkdir(path, 0700);
    (void)snprintf(path, sizeof(path), "%s/holdfast/p-%ld-%d", folder, pid, number);
    file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite("left", 1, 4, file), 4);
    ck_assert_int_eq(fclose(file), 0);
}

/* Nothing is left in it. */
static void folder_drop(void)
{
    char path[HF_CRUMB_PATH];

    (void)snprintf(path, sizeof(path), "%s/holdfast", folder);
    ck_assert_int_eq(rmdir(path), 0);
    ck_assert_int_eq(rmdir(folder), 0);
}

static void *next_map(char path[HF_CRUMB_PATH])
{
    void *mapped;

    ck_assert(hf_crumb_file_next("p", tell, NULL, path));
    mapped = hf_crumb_file_map(path, "mine", 4);
    ck_assert_ptr_nonnull(mapped);
    return mapped;
}

START_TEST(a_dead_process_is_told_of_once)
{
    char path[HF_CRUMB_PATH];
    pid_t child = fork();
    int status = 0;
    void *mapped;

    ck_assert_int_ge(child, 0);
    if (child == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    folder_make();
    leave((long)child, 0);
    mapped = next_map(path);
    ck_assert_int_eq(told, 1);
    hf_crumb_file_unmap(mapped, 4, path);
    mapped = next_map(path);
    ck_assert_int_eq(told, 1);
    hf_crumb_file_unmap(mapped, 4, path);
    folder_drop();
}
END_TEST

/* As in a container, where every process of a program has the same number. */
START_TEST(a_dead_process_of_the_same_number_is_told_of)
{
    char path[HF_CRUMB_PATH];
    void *mapped;

    folder_make();
    leave((long)getpid(), 0);
    mapped = next_map(path);
    ck_assert_int_eq(told, 1);
    hf_crumb_file_unmap(mapped, 4, path);
    folder_drop();
}
END_TEST

START_TEST(files_of_this_process_are_not_left)
{
    char paths[2][HF_CRUMB_PATH];
    void *mapped[2];

    folder_make();
    mapped[0] = next_map(paths[0]);
    mapped[1] = next_map(paths[1]);
    ck_assert_int_eq(told, 0);
    ck_assert_int_eq(access(paths[0], F_OK), 0);
    for (int i = 0; i < 2; i++)
        hf_crumb_file_unmap(mapped[i], 4, paths[i]);
    folder_drop();
}
END_TEST

HF_SUITE_MAIN("engine/crumb_file", {a_dead_process_is_told_of_once, 0},
              {a_dead_process_of_the_same_number_is_told_of, 0},
              {files_of_this_process_are_not_left, 0})
