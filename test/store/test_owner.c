/* test_owner.c: one engine per SQLite file, whoever asks, by whatever name, and however the last
   one ended. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fault.h"
#include "lib/engine.h"
#include "store/owner.h"

static hf_status try_own(const char *address, hf_store **out_store, hf_err *err)
{
    const hf_store_options options = {
        .size = sizeof(options), .role = HF_STORE_OWNER, .create = true};

    return hf_store_open(address, &options, out_store, err);
}

static size_t folder_files(const char *folder)
{
    DIR *dir = opendir(folder);
    size_t count = 0;

    ck_assert_ptr_nonnull(dir);
    for (struct dirent *entry = readdir(dir); entry; entry = readdir(dir))
        if (entry->d_name[0] != '.')
            count++;
    (void)closedir(dir);
    return count;
}

/* Runs in a process of its own and sends the status back as exit code (negated). */
static int own_elsewhere(const char *address)
{
    pid_t child = fork();
    int result = 0;

    ck_assert_int_ge(child, 0);
    if (child == 0) {
        hf_store *store = NULL;
        hf_err err = {0};
        hf_status st = try_own(address, &store, &err);

        hf_store_close(store);
        _exit(-(int)st);
    }
    ck_assert_int_eq(waitpid(child, &result, 0), child);
    ck_assert(WIFEXITED(result));
    return -WEXITSTATUS(result);
}

/* A second owner in the same process is refused with a sentence that says who, where and what to
   do; readers come and go; after closing the next one is welcome and nothing is left beside the
   file. */
START_TEST(one_owner_in_a_process)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    hf_store *owner = hf_test_place_store(place, HF_STORE_OWNER);
    hf_store *second = NULL;
    hf_store *reader;
    hf_err err = {0};
    char host[256] = "";
    char wanted[512];

    ck_assert_int_eq(gethostname(host, sizeof(host) - 1), 0);
    ck_assert_int_eq(try_own(hf_test_place_address(place), &second, &err), HF_OWNED);
    ck_assert_ptr_null(second);
    (void)snprintf(
        wanted, sizeof(wanted),
        "another engine (pid %d on host %s) owns store.db; stop it, or open the store read-only",
        (int)getpid(), host);
    ck_assert_str_eq(err.text, wanted);
    reader = hf_test_place_store(place, HF_STORE_READER);
    hf_store_close(reader);
    hf_store_close(owner);
    owner = hf_test_place_store(place, HF_STORE_OWNER);
    hf_store_close(owner);
    ck_assert_uint_eq(folder_files(hf_test_place_folder(place)), 1);
    hf_test_place_free(place);
}
END_TEST

/* Another process is refused while the owner lives, and let in when it is gone. */
START_TEST(one_owner_among_processes)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    hf_store *owner = hf_test_place_store(place, HF_STORE_OWNER);

    ck_assert_int_eq(own_elsewhere(hf_test_place_address(place)), HF_OWNED);
    hf_store_close(owner);
    ck_assert_int_eq(own_elsewhere(hf_test_place_address(place)), HF_OK);
    hf_test_place_free(place);
}
END_TEST

/* The kernel gives the lock back when the owner is killed, although its side file stays. */
START_TEST(killed_owners_are_replaced)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    int ready[2];
    pid_t child;
    char byte = 0;
    hf_store *store = NULL;
    hf_err err = {0};
    char wanted[64];

    ck_assert_int_eq(pipe(ready), 0);
    child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        store = hf_test_place_store(place, HF_STORE_OWNER);
        (void)!write(ready[1], "x", 1);
        for (;;)
            (void)pause();
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    ck_assert_int_eq(try_own(hf_test_place_address(place), &store, &err), HF_OWNED);
    (void)snprintf(wanted, sizeof(wanted), "(pid %d on host ", (int)child);
    ck_assert_msg(strstr(err.text, wanted) != NULL, "%s", err.text);
    ck_assert_int_eq(kill(child, SIGKILL), 0);
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
    hf_test_ok(try_own(hf_test_place_address(place), &store, &err), &err, "own after a crash");
    hf_store_close(store);
    hf_test_place_free(place);
}
END_TEST

/* Another name for the same file does not make another store. */
START_TEST(names_do_not_matter)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    hf_store *owner = hf_test_place_store(place, HF_STORE_OWNER);
    hf_store *second = NULL;
    hf_owner *direct = NULL;
    hf_err err = {0};
    char link_path[512];

    (void)snprintf(link_path, sizeof(link_path), "%s/link.db", hf_test_place_folder(place));
    ck_assert_int_eq(symlink("store.db", link_path), 0);
    ck_assert_int_eq(try_own(link_path, &second, &err), HF_OWNED);
    ck_assert_int_eq(own_elsewhere(link_path), HF_OWNED);
    ck_assert_int_eq(unlink(link_path), 0);
    ck_assert_int_eq(link(hf_test_place_address(place), link_path), 0);
    ck_assert_int_eq(hf_owner_take(link_path, false, &direct, &err),
                     HF_OWNED); /* found by the process's own list */
    ck_assert_ptr_null(direct);
    ck_assert_int_eq(unlink(link_path), 0);
    hf_store_close(owner);
    hf_test_place_free(place);
}
END_TEST

/* A note that is no note of ours is not repeated. */
START_TEST(foreign_notes_are_not_shown)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    hf_store *owner = hf_test_place_store(place, HF_STORE_OWNER);
    hf_store *second = NULL;
    hf_err err = {0};
    char side[512];
    FILE *file;

    (void)snprintf(side, sizeof(side), "%s-owner", hf_test_place_address(place));
    file = fopen(side, "r+b");
    ck_assert_ptr_nonnull(file);
    ck_assert_int_gt(fprintf(file, "pid 1\033[2Jx"), 0);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(try_own(hf_test_place_address(place), &second, &err), HF_OWNED);
    ck_assert_str_eq(err.text,
                     "another engine owns store.db; stop it, or open the store read-only");
    hf_store_close(owner);
    hf_test_place_free(place);
}
END_TEST

/* No descriptor of a store survives an exec. */
START_TEST(descriptors_close_on_exec)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    bool before[256] = {false};
    hf_store *owner;
    hf_store *reader;
    hf_db *db = NULL;
    hf_err err = {0};
    int fresh = 0;

    for (int fd = 0; fd < 256; fd++)
        before[fd] = fcntl(fd, F_GETFD) >= 0;
    owner = hf_test_place_store(place, HF_STORE_OWNER);
    reader = hf_test_place_store(place, HF_STORE_READER);
    hf_test_ok(hf_store_connect(reader, HF_DB_READ, &db, &err), &err, "connect");
    for (int fd = 0; fd < 256; fd++) {
        int flags = fcntl(fd, F_GETFD);

        if (flags < 0 || before[fd])
            continue;
        fresh++;
        ck_assert_msg(flags & FD_CLOEXEC, "descriptor %d stays open", fd);
    }
    ck_assert_int_gt(fresh, 2);
    hf_db_close(db);
    hf_store_close(reader);
    hf_store_close(owner);
    hf_test_place_free(place);
}
END_TEST

/* Many processes take and give back as fast as they can: never two at once, although the side file
   comes and goes. */
START_TEST(nobody_shares)
{
    enum { PROCESSES = 6, TURNS = 300 };
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    atomic_int *inside =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t children[PROCESSES];
    FILE *file = fopen(hf_test_place_address(place), "wb");
    int taken = 0;

    ck_assert(inside != MAP_FAILED);
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fclose(file), 0);
    for (int i = 0; i < PROCESSES; i++) {
        children[i] = fork();
        ck_assert_int_ge(children[i], 0);
        if (children[i] == 0) {
            int wins = 0;

            for (int turn = 0; turn < TURNS; turn++) {
                hf_owner *owner = NULL;
                hf_err err = {0};
                hf_status st = hf_owner_take(hf_test_place_address(place), false, &owner, &err);

                if (st == HF_OWNED || st == HF_BUSY)
                    continue;
                if (st || atomic_fetch_add(inside, 1) != 0)
                    _exit(255);
                wins++;
                (void)atomic_fetch_sub(inside, 1);
                hf_owner_release(owner);
            }
            _exit(wins > 0 ? 1 : 0);
        }
    }
    for (int i = 0; i < PROCESSES; i++) {
        int result = -1;

        ck_assert_int_eq(waitpid(children[i], &result, 0), children[i]);
        ck_assert(WIFEXITED(result) && WEXITSTATUS(result) < 2);
        taken += WEXITSTATUS(result);
    }
    ck_assert_int_gt(taken, 0);
    ck_assert_uint_eq(folder_files(hf_test_place_folder(place)), 1);
    (void)munmap(inside, 4096);
    hf_test_place_free(place);
}
END_TEST

/* Taking survives each failed allocation, and a failed taking leaves neither file. */
START_TEST(taking_survives_faults)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_SQLITE);
    hf_status st = HF_ERROR;

    for (int64_t nth = 1; st; nth++) {
        hf_owner *owner = NULL;
        hf_err err = {0};

        hf_fault_arm(HF_FAULT_ALLOC, nth, false);
        st = hf_owner_take(hf_test_place_address(place), true, &owner, &err);
        hf_fault_arm(HF_FAULT_ALLOC, 0, false);
        if (st) {
            ck_assert_int_eq(st, HF_NOMEM);
            ck_assert_uint_eq(folder_files(hf_test_place_folder(place)), 0);
        }
        hf_owner_release(owner);
        ck_assert_int_lt(nth, 50);
    }
    hf_test_place_free(place);
}
END_TEST

/* PostgreSQL's owners are many by design. */
START_TEST(postgres_has_many_owners)
{
    hf_test_place *place = hf_test_place_new(HF_ENGINE_POSTGRES);
    hf_store *one = hf_test_place_store(place, HF_STORE_OWNER);
    hf_store *two = hf_test_place_store(place, HF_STORE_OWNER);

    hf_store_close(one);
    hf_store_close(two);
    hf_test_place_free(place);
}
END_TEST

HF_PG_SUITE_MAIN("store/owner", {one_owner_in_a_process, 0}, {one_owner_among_processes, 0},
                 {killed_owners_are_replaced, 0}, {names_do_not_matter, 0},
                 {foreign_notes_are_not_shown, 0}, {descriptors_close_on_exec, 0},
                 {nobody_shares, 0}, {taking_survives_faults, 0}, {postgres_has_many_owners, 0})
