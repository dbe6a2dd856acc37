#include "io/atomic.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "io/links_format.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"

#define LOCK_NAME "plaq.lock"
#define MEBIBYTE (1024.0 * 1024.0)

static int fail(char *message, size_t size, const char *path, const char *what)
{
    links_fail(message, size, "%s: %s: %s", path, what, strerror(errno));
    return -1;
}

/* The folder part of a path, "." if it has none; returns the name part. */
static const char *split(const char *path, char folder[ATOMIC_PATH])
{
    const char *slash = strrchr(path, '/');
    const size_t n = slash ? (size_t)(slash - path) : 0;
    if (!slash) strcpy(folder, ".");
    else if (n == 0) strcpy(folder, "/");
    else snprintf(folder, ATOMIC_PATH, "%.*s", (int)n, path);
    return slash ? slash + 1 : path;
}

/* ---- whole files ---- */

int atomic_free_space(const char *folder, uint64_t bytes, char *message, size_t size)
{
    struct statvfs fs;
    if (statvfs(folder, &fs) != 0) return fail(message, size, folder, "cannot be looked at");
    const uint64_t available = (uint64_t)fs.f_bavail * (uint64_t)fs.f_frsize;
    /* Some network file systems state no size at all. */
    if (fs.f_blocks == 0 || available >= bytes) return 0;
    links_fail(message, size,
               "%s: %.1f MiB are needed, but the file system has only %.1f MiB free; make room or choose "
               "another output folder",
               folder, (double)bytes / MEBIBYTE, (double)available / MEBIBYTE);
    return -1;
}

int atomic_begin(atomic_file *a, const char *path, uint64_t bytes, char *message, size_t size)
{
    char folder[ATOMIC_PATH];
    if (strlen(path) + 8 > ATOMIC_PATH) {
        links_fail(message, size, "file name longer than %d", ATOMIC_PATH - 8);
        return -1;
    }
    const char *name = split(path, folder);
    strcpy(a->path, path);
    snprintf(a->temporary, sizeof a->temporary, "%.*s.%s.tmp", (int)(name - path), path, name);
    if (unlink(a->temporary) != 0 && errno != ENOENT) return fail(message, size, path, "its folder cannot be written");
    return atomic_free_space(folder, bytes, message, size);
}

int atomic_sync(const char *path, char *message, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail(message, size, path, "cannot be opened to be synced");
    int bad = fsync(fd) != 0;
    if (bad && errno == EINVAL) bad = 0;
    if (bad) fail(message, size, path, "cannot be brought to disk");
    close(fd);
    return bad ? -1 : 0;
}

void atomic_sync_folder_of(const char *path)
{
    char folder[ATOMIC_PATH], ignored[ATOMIC_PATH + 128];
    split(path, folder);
    /* The rename itself is done: at worst a power failure undoes it, and the older file is there again. */
    atomic_sync(folder, ignored, sizeof ignored);
}

void atomic_abandon(atomic_file *a)
{
    unlink(a->temporary);
}

int atomic_commit(atomic_file *a, char *message, size_t size)
{
    int bad = atomic_sync(a->temporary, message, size);
    if (!bad && rename(a->temporary, a->path) != 0) {
        fail(message, size, a->path, "the finished file cannot be given its name");
        bad = -1;
    }
    if (bad) atomic_abandon(a);
    else atomic_sync_folder_of(a->path);
    return bad;
}

int atomic_fill(atomic_file *a, const void *data, size_t bytes, char *message, size_t size)
{
    const int fd = open(a->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) return fail(message, size, a->path, "cannot be created");
    int bad = links_pwrite(fd, data, bytes, 0);
    if (bad) fail(message, size, a->path, "cannot be written");
    /* Quotas of network file systems may show only here. */
    if (close(fd) != 0 && !bad) bad = fail(message, size, a->path, "cannot be written");
    if (bad) atomic_abandon(a);
    return bad;
}

int atomic_write(const char *path, const void *data, size_t bytes, char *message, size_t size)
{
    atomic_file a;
    if (atomic_begin(&a, path, bytes, message, size) || atomic_fill(&a, data, bytes, message, size)) return -1;
    return atomic_commit(&a, message, size);
}

/* ---- folders ---- */

static int make_one(const char *folder, char *message, size_t size)
{
    struct stat st;
    if (mkdir(folder, 0777) == 0) return 0;
    const int error = errno;
    if (stat(folder, &st) == 0) {
        if (S_ISDIR(st.st_mode)) return 0;
        errno = ENOTDIR;
    } else {
        errno = error;
    }
    return fail(message, size, folder, "cannot be made an output folder");
}

int atomic_make_folder(const char *folder, char *message, size_t size)
{
    char part[ATOMIC_PATH], probe[ATOMIC_PATH + 32];
    if (!*folder || strlen(folder) >= ATOMIC_PATH) {
        links_fail(message, size, "the name of the output folder has %zu letters, 1 to %d are allowed", strlen(folder),
                   ATOMIC_PATH - 1);
        return -1;
    }
    for (const char *p = folder + 1;; p++) {
        if (*p && *p != '/') continue;
        snprintf(part, sizeof part, "%.*s", (int)(p - folder), folder);
        if (make_one(part, message, size)) return -1;
        if (!*p) break;
    }
    /* Permissions do not tell: read-only file systems, quotas, root squashing. */
    snprintf(probe, sizeof probe, "%s/.write-test-%ld.tmp", folder, (long)getpid());
    const int fd = open(probe, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) return fail(message, size, folder, "the output folder cannot be written");
    int bad = links_pwrite(fd, "plaq\n", 5, 0);
    if (bad) fail(message, size, folder, "the output folder cannot be written");
    close(fd);
    unlink(probe);
    return bad ? -1 : 0;
}

/* `before`, a number, `after`, and nothing else. */
static int is_numbered(const char *name, const char *before, const char *after)
{
    const size_t n = strlen(before);
    if (strncmp(name, before, n)) return 0;
    const size_t digits = strspn(name + n, "0123456789");
    return digits > 0 && !strcmp(name + n + digits, after);
}

/* What a run writes under temporary names, and nothing else: other commands may be writing in the folder just now. A
 * checkpoint is made of a lattice file, which has a temporary name of its own. */
static int is_leftover(const char *name)
{
    return is_numbered(name, ".checkpoint-", ".h5.tmp") || is_numbered(name, ".checkpoint-", ".h5.tmp.tmp") ||
           is_numbered(name, ".write-test-", ".tmp") || !strcmp(name, ".history.h5.tmp") ||
           !strcmp(name, ".history.journal.tmp");
}

int atomic_remove_leftovers(const char *folder)
{
    int removed = 0;
    DIR *dir = opendir(folder);
    if (!dir) return 0;
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        struct stat st;
        if (!is_leftover(e->d_name)) continue;
        if (fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode)) continue;
        removed += unlinkat(dirfd(dir), e->d_name, 0) == 0;
    }
    closedir(dir);
    return removed;
}

/* ---- the lock ---- */

static void lock_path(char path[ATOMIC_PATH + 32], const char *folder)
{
    snprintf(path, ATOMIC_PATH + 32, "%s/" LOCK_NAME, folder);
}

static int report_holder(const char *folder, int fd, char *message, size_t size)
{
    char holder[256] = "";
    const ssize_t n = pread(fd, holder, sizeof holder - 1, 0);
    holder[n > 0 ? n : 0] = 0;
    holder[strcspn(holder, "\n")] = 0;
    links_fail(message, size,
               "%s: another run uses this output folder (%s); wait until it ends, or choose another folder", folder,
               *holder ? holder : "its " LOCK_NAME " does not say which");
    return -1;
}

static void sign(int fd)
{
    char host[128] = "unknown", text[192];
    gethostname(host, sizeof host - 1);
    host[sizeof host - 1] = 0;
    const int n = snprintf(text, sizeof text, "host %s, process %ld\n", host, (long)getpid());
    /* Only for the reader of a message: the lock holds without it. */
    if (ftruncate(fd, 0) == 0) links_pwrite(fd, text, (size_t)n, 0);
}

int atomic_lock(const char *folder, char *message, size_t size)
{
    char path[ATOMIC_PATH + 32];
    lock_path(path, folder);
    for (;;) {
        struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        struct stat held, named;
        const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0) return fail(message, size, path, "cannot be opened");
        if (fcntl(fd, F_SETLK, &whole) != 0) {
            const int taken = errno == EACCES || errno == EAGAIN;
            if (!taken && (errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP)) {
                log_warn("%s: this file system has no locks: see yourself that no two runs share the folder", folder);
                return fd;
            }
            if (taken) report_holder(folder, fd, message, size);
            else fail(message, size, path, "cannot be locked");
            close(fd);
            return -1;
        }
        /* The holder before may have removed the file between open() and the lock: then this is a lock on nothing. */
        if (fstat(fd, &held) == 0 && stat(path, &named) == 0 && held.st_ino == named.st_ino) {
            sign(fd);
            return fd;
        }
        close(fd);
    }
}

void atomic_unlock(const char *folder, int lock)
{
    char path[ATOMIC_PATH + 32];
    lock_path(path, folder);
    unlink(path);
    close(lock);
}

/* ---- the folder of a run ---- */

static char open_folder[ATOMIC_PATH];
static int open_lock = -1;

void output_open(const char *folder)
{
    char message[2 * ATOMIC_PATH] = "";
    int bad = 0, removed = 0;
    REQUIRE(!open_folder[0], "output folder %s is open already", open_folder);
    if (comm_rank() == 0) {
        bad = atomic_make_folder(folder, message, sizeof message);
        if (!bad) bad = (open_lock = atomic_lock(folder, message, sizeof message)) < 0;
        if (!bad) removed = atomic_remove_leftovers(folder);
    }
    if (comm_any_bad(bad, message, sizeof message)) user_error("%s", message);
    strcpy(open_folder, folder);
    if (removed) log_info("%s: removed %d temporary files of a run that was cut off", folder, removed);
}

void output_close(void)
{
    if (open_lock >= 0) atomic_unlock(open_folder, open_lock);
    open_lock = -1;
    open_folder[0] = 0;
}
