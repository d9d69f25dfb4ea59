/* sandbox.c: no_new_privs, Landlock for files and connections, seccomp for the system calls that a
   server never makes. A list of calls that are refused, not of those that are allowed: what the C
   library calls differs between versions. The numbers of Landlock are its published interface, so
   that old headers do. */
#define _GNU_SOURCE /* syscall, O_PATH */
#include "cli/sandbox.h"

#ifdef __linux__

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    LANDLOCK_CREATE = 444,
    LANDLOCK_ADD = 445,
    LANDLOCK_RESTRICT = 446,
    LANDLOCK_PATH_BENEATH = 1,
    LANDLOCK_VERSION = 1
};

/* Rights of Landlock. */
#define FS_EXECUTE (UINT64_C(1) << 0)
#define FS_WRITES  (UINT64_C(1) << 1 | UINT64_C(0x1ff) << 4) /* write, remove, make */
/* write a file; remove folders and files; make folders and files */
#define FS_FILES     (UINT64_C(1) << 1 | UINT64_C(0x3) << 4 | UINT64_C(0x3) << 7)
#define FS_SOCKET    (UINT64_C(1) << 9)
#define FS_REFER     (UINT64_C(1) << 13) /* from version 2 on */
#define FS_TRUNCATE  (UINT64_C(1) << 14) /* from version 3 on */
#define NET_CONNECTS (UINT64_C(1) << 1)  /* from version 4 on */

static hf_status failure(hf_err *err, const char *what)
{
    return hf_err_set(err, HF_IO, "sandbox: %s: %s", what, strerror(errno));
}

static hf_status folder_allow(int rules, const char *folder, uint64_t rights, hf_err *err)
{
    unsigned char beneath[12]; /* rights and descriptor, without a gap */
    int32_t fd = open(folder, O_PATH | O_CLOEXEC);
    long done;

    if (fd < 0)
        return errno == ENOENT ? HF_OK : failure(err, folder); /* whoever needs it will say so */
    memcpy(beneath, &rights, sizeof(rights));
    memcpy(beneath + sizeof(rights), &fd, sizeof(fd));
    done = syscall(LANDLOCK_ADD, rules, LANDLOCK_PATH_BENEATH, beneath, 0);
    (void)close(fd);
    return done ? failure(err, folder) : HF_OK;
}

static hf_status files_restrict(const hf_sandbox *sandbox, hf_err *err)
{
    long version = syscall(LANDLOCK_CREATE, NULL, 0, LANDLOCK_VERSION);
    uint64_t late = (version >= 2 ? FS_REFER : 0) | (version >= 3 ? FS_TRUNCATE : 0);
    uint64_t handled[2] = {FS_EXECUTE | FS_WRITES | late,
                           version >= 4 && !sandbox->connects ? NET_CONNECTS : 0};
    hf_status st = HF_OK;
    int rules;

    if (version < 1)
        return HF_OK; /* this system has none */
    rules = (int)syscall(LANDLOCK_CREATE, handled,
                         version >= 4 ? sizeof(handled) : sizeof(*handled), 0);
    if (rules < 0)
        return failure(err, "Landlock");
    for (size_t i = 0; !st && i < sandbox->count; i++)
        st = folder_allow(rules, sandbox->folders[i], FS_FILES | FS_SOCKET | late, err);
    if (!st)
        st = folder_allow(rules, "/dev", UINT64_C(1) << 1, err); /* null, and the terminal */
    if (!st && syscall(LANDLOCK_RESTRICT, rules, 0))
        st = failure(err, "Landlock");
    (void)close(rules);
    return st;
}

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#ifdef ARCHITECTURE

#define REFUSE(number)                                                                             \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1),                                           \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

static hf_status calls_restrict(hf_err *err)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
#ifdef __x86_64__
        BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1), /* another way to the same calls */
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
#endif
        REFUSE(__NR_execve),
        REFUSE(__NR_execveat),
        REFUSE(__NR_process_vm_writev),
        REFUSE(__NR_mount),
        REFUSE(__NR_umount2),
        REFUSE(__NR_pivot_root),
        REFUSE(__NR_chroot),
        REFUSE(__NR_unshare),
        REFUSE(__NR_setns),
        REFUSE(__NR_bpf),
        REFUSE(__NR_perf_event_open),
        REFUSE(__NR_userfaultfd),
        REFUSE(__NR_keyctl),
        REFUSE(__NR_add_key),
        REFUSE(__NR_init_module),
        REFUSE(__NR_finit_module),
        REFUSE(__NR_delete_module),
        REFUSE(__NR_kexec_load),
        REFUSE(__NR_reboot),
        REFUSE(__NR_swapon),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = sizeof(filter) / sizeof(filter[0]), .filter = filter};

    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) && errno != EINVAL && errno != ENOSYS)
        return failure(err, "seccomp");
    return HF_OK; /* EINVAL, ENOSYS: this system has none */
}

#else

static hf_status calls_restrict(hf_err *err)
{
    (void)err;
    return HF_OK;
}

#endif

hf_status hf_sandbox_enter(const hf_sandbox *sandbox, hf_err *err)
{
    hf_status st;

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        return failure(err, "no_new_privs");
    st = files_restrict(sandbox, err);
    return st ? st : calls_restrict(err);
}

#else

hf_status hf_sandbox_enter(const hf_sandbox *sandbox, hf_err *err)
{
    (void)sandbox;
    (void)err;
    return HF_OK;
}

#endif
