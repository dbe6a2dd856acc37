/* Injected failures of system calls, for tests of the program: a library for LD_PRELOAD.
 *
 *   PLAQ_FAULT_PATH    which files, as a pattern of the shell in which * passes over / too; default all
 *   PLAQ_FAULT_CALL    which kind of call fails; default none, and calls are only counted:
 *                        open     opening for reading               create   opening for writing, memfd_create
 *                        read     read, pread                       write    write, pwrite
 *                        close  fsync  truncate  rename  unlink  mkdir  stat  lock (flock, and fcntl that locks)
 *   PLAQ_FAULT_NTH     which of these calls fails, from 1; "3+": the third and all later ones; default 1+
 *   PLAQ_FAULT_ERRNO   with what: EACCES EIO ENOSPC EDQUOT EINTR EFBIG ENOLCK EROFS ESTALE EWOULDBLOCK, or a number.
 *                        "short": half of the bytes are read or written. "end": the file ends. "kill": SIGKILL before.
 *   PLAQ_FAULT_COUNTS  a file that gets the number of calls of each kind on such files, "KIND NUMBER" a line, anew
 *                        after each call, so that it is right even if the process is killed
 *
 * The name of a call on a descriptor is that in /proc/self/fd; a renaming counts under either of its names. A failing
 * call has no effect, but for close, which closes. Counts are those of one process. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { OPEN, CREATE, READ, WRITE, CLOSE, FSYNC, TRUNCATE, RENAME, UNLINK, MKDIR, STAT, LOCK, KINDS };
static const char *const kinds[KINDS] = {"open",     "create", "read",   "write", "close", "fsync",
                                         "truncate", "rename", "unlink", "mkdir", "stat",  "lock"};
static long counts[KINDS];

/* What a call has to do. */
enum { USUAL, FAIL, SHORT, END };

static const struct {
    const char *name;
    int value;
} errors[] = {
    {"EACCES", EACCES}, {"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EDQUOT", EDQUOT}, {"EINTR", EINTR},
    {"EFBIG", EFBIG},   {"ENOLCK", ENOLCK}, {"EROFS", EROFS},   {"ESTALE", ESTALE}, {"EWOULDBLOCK", EWOULDBLOCK}};

static void *next(const char *name)
{
    void *f = dlsym(RTLD_NEXT, name);
    if (!f) abort();
    return f;
}

/* By system calls of its own, which are not counted. */
static void write_counts(void)
{
    char text[512];
    const char *path = getenv("PLAQ_FAULT_COUNTS");
    int n = 0;
    if (!path) return;
    for (int k = 0; k < KINDS; k++) n += snprintf(text + n, sizeof text - (size_t)n, "%s %ld\n", kinds[k], counts[k]);
    const long fd = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0) abort();
    /* Counts only grow, so no text of before stays. */
    if (syscall(SYS_pwrite64, fd, text, (size_t)n, 0) != n) abort();
    syscall(SYS_close, fd);
}

static int error_of(const char *name)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (!strcmp(name, errors[i].name)) return errors[i].value;
    const int value = atoi(name);
    if (value <= 0) abort(); /* a test that asks for what is not there */
    return value;
}

/* Counts a call on a file of that name, and says what it has to do; sets errno where it fails. */
static int judge(int kind, const char *path)
{
    const char *pattern = getenv("PLAQ_FAULT_PATH"), *call = getenv("PLAQ_FAULT_CALL");
    const char *nth = getenv("PLAQ_FAULT_NTH"), *how = getenv("PLAQ_FAULT_ERRNO");
    const int kept = errno;
    if (!path || (pattern && fnmatch(pattern, path, 0))) return USUAL;
    const long number = __atomic_add_fetch(&counts[kind], 1, __ATOMIC_SEQ_CST);
    write_counts();
    errno = kept;
    if (!call || strcmp(call, kinds[kind])) return USUAL;
    const long wanted = nth ? atol(nth) : 1;
    const int later = !nth || strchr(nth, '+') != NULL;
    if (number != wanted && !(later && number > wanted)) return USUAL;
    if (how && !strcmp(how, "short")) return SHORT;
    if (how && !strcmp(how, "end")) return END;
    if (how && !strcmp(how, "kill")) raise(SIGKILL);
    errno = error_of(how ? how : "EIO");
    return FAIL;
}

static int judge_descriptor(int kind, int fd)
{
    char link[64], path[4096];
    const int kept = errno;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t n = readlink(link, path, sizeof path - 1);
    errno = kept;
    if (n < 0) return USUAL;
    path[n] = 0;
    return judge(kind, path);
}

static int kind_of_opening(int flags)
{
    return (flags & O_ACCMODE) == O_RDONLY && !(flags & O_CREAT) ? OPEN : CREATE;
}

static mode_t mode_of(int flags, va_list ap)
{
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? (mode_t)va_arg(ap, int) : 0;
}

#define OPENING(name)                                                                                                  \
    int name(const char *path, int flags, ...)                                                                         \
    {                                                                                                                  \
        va_list ap;                                                                                                    \
        va_start(ap, flags);                                                                                           \
        const mode_t mode = mode_of(flags, ap);                                                                        \
        va_end(ap);                                                                                                    \
        if (judge(kind_of_opening(flags), path)) return -1;                                                            \
        return ((int (*)(const char *, int, ...))next(#name))(path, flags, mode);                                      \
    }
#define OPENING_AT(name)                                                                                               \
    int name(int folder, const char *path, int flags, ...)                                                             \
    {                                                                                                                  \
        va_list ap;                                                                                                    \
        va_start(ap, flags);                                                                                           \
        const mode_t mode = mode_of(flags, ap);                                                                        \
        va_end(ap);                                                                                                    \
        if (judge(kind_of_opening(flags), path)) return -1;                                                            \
        return ((int (*)(int, const char *, int, ...))next(#name))(folder, path, flags, mode);                         \
    }
/* What a library compiled with _FORTIFY_SOURCE calls. */
#define OPENING_FORTIFIED(name)                                                                                        \
    int name(const char *path, int flags);                                                                             \
    int name(const char *path, int flags)                                                                              \
    {                                                                                                                  \
        if (judge(kind_of_opening(flags), path)) return -1;                                                            \
        return ((int (*)(const char *, int))next(#name))(path, flags);                                                 \
    }
#define STREAM(name)                                                                                                   \
    FILE *name(const char *path, const char *mode)                                                                     \
    {                                                                                                                  \
        if (judge(strpbrk(mode, "wa+") ? CREATE : OPEN, path)) return NULL;                                            \
        return ((FILE * (*)(const char *, const char *)) next(#name))(path, mode);                                     \
    }
OPENING(open)
OPENING(open64)
OPENING_AT(openat)
OPENING_AT(openat64)
OPENING_FORTIFIED(__open_2)
OPENING_FORTIFIED(__open64_2)
STREAM(fopen)
STREAM(fopen64)

int memfd_create(const char *name, unsigned flags)
{
    if (judge(CREATE, name)) return -1;
    return ((int (*)(const char *, unsigned))next("memfd_create"))(name, flags);
}

/* half: what the call does by halves; nothing: the end of the file, or of the room. */
#define TRANSFER(type, name, kind, parameters, whole, half)                                                            \
    ssize_t name parameters                                                                                            \
    {                                                                                                                  \
        ssize_t(*real) type = (ssize_t(*) type)next(#name);                                                            \
        switch (judge_descriptor(kind, fd)) {                                                                          \
        case FAIL: return -1;                                                                                          \
        case END: return 0;                                                                                            \
        case SHORT: return real half;                                                                                  \
        }                                                                                                              \
        return real whole;                                                                                             \
    }
#define HALF (n > 1 ? n / 2 : n)
TRANSFER((int, void *, size_t), read, READ, (int fd, void *buf, size_t n), (fd, buf, n), (fd, buf, HALF))
TRANSFER((int, void *, size_t, off_t), pread, READ, (int fd, void *buf, size_t n, off_t at), (fd, buf, n, at),
         (fd, buf, HALF, at))
TRANSFER((int, void *, size_t, off64_t), pread64, READ, (int fd, void *buf, size_t n, off64_t at), (fd, buf, n, at),
         (fd, buf, HALF, at))
TRANSFER((int, const void *, size_t), write, WRITE, (int fd, const void *buf, size_t n), (fd, buf, n), (fd, buf, HALF))
TRANSFER((int, const void *, size_t, off_t), pwrite, WRITE, (int fd, const void *buf, size_t n, off_t at),
         (fd, buf, n, at), (fd, buf, HALF, at))
TRANSFER((int, const void *, size_t, off64_t), pwrite64, WRITE, (int fd, const void *buf, size_t n, off64_t at),
         (fd, buf, n, at), (fd, buf, HALF, at))

int close(int fd)
{
    const int bad = judge_descriptor(CLOSE, fd), kept = errno;
    const int status = ((int (*)(int))next("close"))(fd);
    if (!bad) return status;
    errno = kept;
    return -1;
}

#define ON_DESCRIPTOR(name, kind, type, parameters, arguments)                                                         \
    int name parameters                                                                                                \
    {                                                                                                                  \
        if (judge_descriptor(kind, fd)) return -1;                                                                     \
        return ((int(*) type)next(#name))arguments;                                                                    \
    }
ON_DESCRIPTOR(fsync, FSYNC, (int), (int fd), (fd))
ON_DESCRIPTOR(fdatasync, FSYNC, (int), (int fd), (fd))
ON_DESCRIPTOR(ftruncate, TRUNCATE, (int, off_t), (int fd, off_t n), (fd, n))
ON_DESCRIPTOR(ftruncate64, TRUNCATE, (int, off64_t), (int fd, off64_t n), (fd, n))
ON_DESCRIPTOR(fstat, STAT, (int, struct stat *), (int fd, struct stat *st), (fd, st))
ON_DESCRIPTOR(fstat64, STAT, (int, struct stat64 *), (int fd, struct stat64 *st), (fd, st))
ON_DESCRIPTOR(flock, LOCK, (int, int), (int fd, int operation), (fd, operation))

#define ON_PATH(name, kind, type, parameters, arguments)                                                               \
    int name parameters                                                                                                \
    {                                                                                                                  \
        if (judge(kind, path)) return -1;                                                                              \
        return ((int(*) type)next(#name))arguments;                                                                    \
    }
ON_PATH(stat, STAT, (const char *, struct stat *), (const char *path, struct stat *st), (path, st))
ON_PATH(stat64, STAT, (const char *, struct stat64 *), (const char *path, struct stat64 *st), (path, st))
ON_PATH(unlink, UNLINK, (const char *), (const char *path), (path))
ON_PATH(mkdir, MKDIR, (const char *, mode_t), (const char *path, mode_t mode), (path, mode))

int rename(const char *from, const char *to)
{
    const char *pattern = getenv("PLAQ_FAULT_PATH");
    if (judge(RENAME, pattern && !fnmatch(pattern, to, 0) ? to : from)) return -1;
    return ((int (*)(const char *, const char *))next("rename"))(from, to);
}

#define FCNTL(name)                                                                                                    \
    int name(int fd, int command, ...)                                                                                 \
    {                                                                                                                  \
        va_list ap;                                                                                                    \
        va_start(ap, command);                                                                                         \
        void *argument = va_arg(ap, void *);                                                                           \
        va_end(ap);                                                                                                    \
        const int locks = command == F_SETLK || command == F_SETLKW || command == F_OFD_SETLK;                         \
        if (locks && judge_descriptor(LOCK, fd)) return -1;                                                            \
        return ((int (*)(int, int, ...))next(#name))(fd, command, argument);                                           \
    }
FCNTL(fcntl)
FCNTL(fcntl64)
