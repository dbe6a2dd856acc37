#include "io/files/atomic.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "io/files/checksum.h"
#include "io/files/file_io.h"
#include "io/files/run_folder.h"
#include "kernels/base/log.h"
#include "kernels/lattice/comm.h"

#define LOCK_NAME "plaq.lock"
#define WRITE_TEST "write-test"
#define MEBIBYTE (1024.0 * 1024.0)

static int fail(char *message, size_t size, const char *path, const char *what)
{
    file_fail(message, size, "%s: %s: %s", path, what, strerror(errno));
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
    /* Network file systems may state no size at all. */
    if (fs.f_blocks == 0 || available >= bytes) return 0;
    file_fail(message, size,
               "%s: %.1f MiB are needed, but the file system has only %.1f MiB free; make room or choose "
               "another output folder",
               folder, (double)bytes / MEBIBYTE, (double)available / MEBIBYTE);
    return -1;
}

/* Tells this process from all others that may write in a folder: host, process namespace and number. Numbers of
 * processes mean something on one host and in one namespace alone. */
static void process_tag(char tag[32], unsigned *place)
{
    char text[256] = "";
    gethostname(text, 128);
    const size_t n = strnlen(text, 128);
    if (readlink("/proc/self/ns/pid", text + n, sizeof text - n - 1) < 0) text[n] = 0;
    *place = crc32_of(0, text, sizeof text);
    snprintf(tag, 32, "%08x-%ld", *place, (long)getpid());
}

/* Removes ".NAME.TAG.tmp" of processes of this host that are no more; `all`: of any process. */
static void remove_dead(const char *folder, const char *name, int all)
{
    char tag[32];
    unsigned here, place;
    const size_t n = strlen(name);
    DIR *dir = opendir(folder);
    if (!dir) return;
    process_tag(tag, &here);
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        long process;
        int used = 0;
        const char *d = e->d_name;
        if (d[0] != '.' || strncmp(d + 1, name, n) || d[n + 1] != '.') continue;
        if (sscanf(d + n + 2, "%8x-%ld.tmp%n", &place, &process, &used) != 2 || !used || d[n + 2 + (size_t)used])
            continue;
        const int dead = place == here && process > 0 && kill((pid_t)process, 0) != 0 && errno == ESRCH;
        if (all || dead) unlinkat(dirfd(dir), d, 0);
    }
    closedir(dir);
}

/* Resolves a symbolic link: the bytes go to the file that it leads to. Any other path is its own target. */
static int resolve(char target[ATOMIC_PATH], const char *path, char *message, size_t size)
{
    struct stat st;
    char leads_to[ATOMIC_PATH] = "";
    if (lstat(path, &st) != 0 || !S_ISLNK(st.st_mode)) {
        strcpy(target, path);
        return 0;
    }
    char *real = realpath(path, NULL);
    const size_t n = real ? strlen(real) : 0;
    if (real && n + 32 < ATOMIC_PATH) strcpy(target, real);
    free(real);
    if (n && n + 32 < ATOMIC_PATH) return 0;
    if (readlink(path, leads_to, sizeof leads_to - 1) < 0) leads_to[0] = 0;
    file_fail(message, size,
               "%s: a symbolic link to %s, where no file is; make that file's folder, or remove the link", path,
               leads_to);
    return -1;
}

int atomic_begin(atomic_file *a, const char *path, uint64_t bytes, char *message, size_t size)
{
    char folder[ATOMIC_PATH], tag[32];
    unsigned place;
    struct stat st;
    if (strlen(path) + 32 > ATOMIC_PATH) {
        file_fail(message, size, "file name longer than %d", ATOMIC_PATH - 32);
        return -1;
    }
    if (resolve(a->path, path, message, size)) return -1;
    const char *name = split(a->path, folder);
    process_tag(tag, &place);
    snprintf(a->temporary, sizeof a->temporary, "%.*s.%s.%s.tmp", (int)(name - a->path), a->path, name, tag);
    /* Found only by the renaming, it would cost the time of writing. */
    if (stat(a->path, &st) == 0 && S_ISDIR(st.st_mode)) {
        errno = EISDIR;
        return fail(message, size, path, "cannot be created");
    }
    if (stat(folder, &st) != 0) {
        file_fail(message, size, "%s: cannot be created: %s (the folder %s)", path, strerror(errno), folder);
        return -1;
    }
    remove_dead(folder, name, 0);
    if (unlink(a->temporary) != 0 && errno != ENOENT) return fail(message, size, path, "cannot be created");
    return atomic_free_space(folder, bytes, message, size);
}

int atomic_create(const atomic_file *a, char *message, size_t size)
{
    const int fd = open(a->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return fd < 0 ? fail(message, size, a->path, "cannot be created") : fd;
}

int atomic_sync(const char *path, char *message, size_t size)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail(message, size, path, "cannot be opened to be synced");
    int bad = fsync(fd) != 0;
    if (bad && errno == EINVAL) bad = 0;
    if (bad) fail(message, size, path, "cannot be flushed to disk");
    if (close(fd) != 0 && !bad) bad = fail(message, size, path, "cannot be flushed to disk");
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
    const int fd = atomic_create(a, message, size);
    if (fd < 0) return -1;
    int bad = file_pwrite(fd, data, bytes, 0);
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

int atomic_can_write(const char *path, uint64_t bytes, char *message, size_t size)
{
    atomic_file a;
    if (atomic_begin(&a, path, bytes, message, size)) return -1;
    const int fd = atomic_create(&a, message, size);
    if (fd < 0) return -1;
    close(fd);
    atomic_abandon(&a);
    return 0;
}

/* ---- folders ---- */

/* Makes one folder: 1 when it was made, 0 when it was there. */
static int make_one(const char *folder, char *message, size_t size)
{
    struct stat st;
    char leads_to[ATOMIC_PATH] = "";
    if (mkdir(folder, 0777) == 0) return 1;
    const int error = errno;
    if (stat(folder, &st) == 0) {
        if (S_ISDIR(st.st_mode)) return 0;
        errno = ENOTDIR;
    } else if (readlink(folder, leads_to, sizeof leads_to - 1) > 0) {
        file_fail(message, size, "%s: a symbolic link to %s, where no folder is; make that folder, or remove the link",
                   folder, leads_to);
        return -1;
    } else {
        errno = error;
    }
    return fail(message, size, folder, "cannot be made an output folder");
}

/* Removes a folder and those above it whose names are longer than `before`, as far as they are empty. */
static void remove_empty(const char *folder, size_t before)
{
    char part[ATOMIC_PATH];
    snprintf(part, sizeof part, "%s", folder);
    for (size_t n = strlen(part); n > before; n = strlen(part)) {
        if (rmdir(part) != 0) return;
        char *slash = strrchr(part, '/');
        if (!slash) return;
        *slash = 0;
    }
}

/* Permissions do not tell: read-only file systems, quotas, root squashing. */
static int try_writing(const char *folder, char *message, size_t size)
{
    char probe[ATOMIC_PATH + 64], tag[32];
    unsigned place;
    process_tag(tag, &place);
    remove_dead(folder, WRITE_TEST, 0);
    snprintf(probe, sizeof probe, "%s/." WRITE_TEST ".%s.tmp", folder, tag);
    const int fd = open(probe, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) return fail(message, size, folder, "the output folder cannot be written");
    /* An unlinked file goes with the process, however that ends. */
    unlink(probe);
    int bad = file_pwrite(fd, "plaq\n", 5, 0);
    if (bad) fail(message, size, folder, "the output folder cannot be written");
    if (close(fd) != 0 && !bad) bad = fail(message, size, folder, "the output folder cannot be written");
    return bad;
}

int atomic_make_folder(const char *folder, size_t *made, char *message, size_t size)
{
    char part[ATOMIC_PATH];
    size_t before = strlen(folder);
    int bad = 0, one = 0;
    if (!*folder || before >= ATOMIC_PATH) {
        file_fail(message, size, "the name of the output folder has %zu letters, 1 to %d are allowed", before,
                   ATOMIC_PATH - 1);
        return -1;
    }
    for (size_t n = 1, last = 0; n <= strlen(folder) && !bad; n++) {
        if (folder[n] && folder[n] != '/') continue;
        snprintf(part, sizeof part, "%.*s", (int)n, folder);
        bad = (one = make_one(part, message, size)) < 0;
        if (one == 1 && last < before) before = last;
        last = n;
    }
    bad = bad || try_writing(folder, message, size);
    if (bad) remove_empty(folder, before);
    if (made) *made = before;
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

/* True for temporary files of a run alone: other commands may be writing in the folder just now. */
static int is_leftover(const char *name)
{
    char plain[NAME_MAX + 1];
    unsigned place;
    long process;
    snprintf(plain, sizeof plain, "%s", name);
    char *end = strrchr(plain, '.'), *tag = NULL;
    if (end && !strcmp(end, ".tmp")) {
        *end = 0;
        tag = strrchr(plain, '.');
    }
    if (!tag || sscanf(tag, ".%8x-%ld", &place, &process) != 2) return 0;
    *tag = 0;
    return is_numbered(plain, ".checkpoint-", ".h5") || !strcmp(plain, ".history.h5") ||
           !strcmp(plain, ".history.journal") || !strcmp(plain, "." WRITE_TEST);
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

/* ---- locks ---- */

static void say_holder(int fd, char holder[256])
{
    const ssize_t n = pread(fd, holder, 255, 0);
    holder[n > 0 ? n : 0] = 0;
    holder[strcspn(holder, "\n")] = 0;
    if (!*holder) strcpy(holder, "its lock file does not say which");
}

static void sign(int fd)
{
    char host[128] = "unknown", text[192];
    gethostname(host, sizeof host - 1);
    host[sizeof host - 1] = 0;
    const int n = snprintf(text, sizeof text, "host %s, process %ld\n", host, (long)getpid());
    /* Only for the reader of a message: the lock holds without it. */
    if (ftruncate(fd, 0) == 0) file_pwrite(fd, text, (size_t)n, 0);
}

/* Tries the lock: 0; 1 when another process holds it, named in `holder`; -1 with a message. */
static int try_lock(atomic_lock *lock, char holder[256], char *message, size_t size)
{
    for (;;) {
        struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        struct stat held, named;
        lock->fd = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (lock->fd < 0) return fail(message, size, lock->path, "cannot be opened");
        if (fcntl(lock->fd, F_SETLK, &whole) != 0) {
            if (errno == ENOLCK || errno == ENOSYS || errno == EOPNOTSUPP) {
                log_warn("%s: this file system has no locks: make sure that no two programs write there at once",
                         lock->path);
                return 0;
            }
            const int taken = errno == EACCES || errno == EAGAIN;
            if (taken) say_holder(lock->fd, holder);
            else fail(message, size, lock->path, "cannot be locked");
            close(lock->fd);
            lock->fd = -1;
            return taken ? 1 : -1;
        }
        /* The holder before may have removed the file between open() and the lock: then this is a lock on nothing. */
        if (fstat(lock->fd, &held) == 0 && stat(lock->path, &named) == 0 && held.st_ino == named.st_ino) {
            sign(lock->fd);
            return 0;
        }
        close(lock->fd);
    }
}

int atomic_lock_folder(atomic_lock *lock, const char *folder, char *message, size_t size)
{
    char holder[256];
    snprintf(lock->path, sizeof lock->path, "%s/" LOCK_NAME, folder);
    const int status = try_lock(lock, holder, message, size);
    if (status > 0)
        file_fail(message, size,
                   "%s: another run uses this output folder (%s); wait until it ends, or choose another folder", folder,
                   holder);
    return status ? -1 : 0;
}

int atomic_lock_file(atomic_lock *lock, const char *path, double seconds, char *message, size_t size)
{
    const struct timespec pause = {0, 20000000};
    char folder[ATOMIC_PATH], target[ATOMIC_PATH], holder[256] = "";
    lock->fd = -1;
    if (strlen(path) + 32 > ATOMIC_PATH) {
        file_fail(message, size, "file name longer than %d", ATOMIC_PATH - 32);
        return -1;
    }
    if (resolve(target, path, message, size)) return -1;
    const char *name = split(target, folder);
    snprintf(lock->path, sizeof lock->path, "%.*s.%s.lock", (int)(name - target), target, name);
    int status = try_lock(lock, holder, message, size);
    for (double waited = 0; status > 0 && waited < seconds; waited += 1e-9 * (double)pause.tv_nsec) {
        nanosleep(&pause, NULL);
        status = try_lock(lock, holder, message, size);
    }
    if (status > 0)
        file_fail(message, size,
                   "%s: another program has written there for %.0f seconds (%s); wait until it ends, or "
                   "choose another file",
                   path, seconds, holder);
    if (status == 0) remove_dead(folder, name, 1);
    return status ? -1 : 0;
}

void atomic_release(atomic_lock *lock)
{
    if (lock->fd < 0) return;
    unlink(lock->path);
    close(lock->fd);
    lock->fd = -1;
}

/* ---- the folder of a run ---- */

static char open_folder[ATOMIC_PATH];
static size_t there_before; /* letters of its name whose folders output_open() did not make */
static atomic_lock open_lock = {"", -1};

void output_open(const char *folder)
{
    static int at_exit;
    char message[2 * ATOMIC_PATH] = "";
    int bad = 0, removed = 0;
    REQUIRE(!open_folder[0], "output folder %s is open already", open_folder);
    if (comm_rank() == 0) {
        bad = atomic_make_folder(folder, &there_before, message, sizeof message);
        if (!bad && (bad = atomic_lock_folder(&open_lock, folder, message, sizeof message)))
            remove_empty(folder, there_before);
        if (!bad) {
            char kept[ATOMIC_PATH + 32];
            snprintf(kept, sizeof kept, "%s/" SAVE_FOLDER, folder);
            removed = atomic_remove_leftovers(folder) + atomic_remove_leftovers(kept);
        }
        if (!at_exit) at_exit = atexit(output_close) == 0;
    }
    if (comm_any_bad(bad, message, sizeof message)) user_error("%s", message);
    strcpy(open_folder, folder);
    if (removed) log_info("%s: removed %d temporary files of a run that was cut off", folder, removed);
}

void output_close(void)
{
    atomic_release(&open_lock);
    if (open_folder[0] && comm_rank() == 0) remove_empty(open_folder, there_before);
    open_folder[0] = 0;
}

int output_could_open(const char *folder, char *message, size_t size)
{
    size_t before;
    const int bad = comm_rank() == 0 && atomic_make_folder(folder, &before, message, size);
    if (comm_rank() == 0 && !bad) remove_empty(folder, before);
    return !comm_any_bad(bad, message, size);
}
