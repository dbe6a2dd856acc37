#include "io/files/seal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/checksum.h"
#include "io/files/file_io.h"

static const char title[] = "plaq sealed HDF5 file, seal version 1\n";

int seal_present(const unsigned char *first, size_t n)
{
    return n >= 21 && !memcmp(first, title, 21);
}

static void render(char block[SEAL_BYTES], uint64_t bytes, const seal_regions *r, const char *hex)
{
    memset(block, 0, SEAL_BYTES);
    size_t n = (size_t)snprintf(block, SEAL_BYTES, "%sbytes = %" PRIu64 "\nsha256 = %s\n", title, bytes, hex);
    for (int i = 0; i < r->n; i++)
        n += (size_t)snprintf(block + n, SEAL_BYTES - n, "without = %" PRIu64 " %" PRIu64 "\n", r->start[i],
                              r->bytes[i]);
}

static int hash_rest(int fd, uint64_t bytes, const seal_regions *r, char hex[65])
{
    char buf[65536];
    sha256 s;
    sha256_start(&s);
    uint64_t at = SEAL_BYTES;
    for (int i = 0; i <= r->n; i++) {
        const uint64_t end = i < r->n ? r->start[i] : bytes;
        while (at < end) {
            const size_t n = end - at < sizeof buf ? (size_t)(end - at) : sizeof buf;
            if (file_pread(fd, buf, n, at)) return -1;
            sha256_add(&s, buf, n);
            at += n;
        }
        if (i < r->n) at += r->bytes[i];
    }
    sha256_end(&s, hex);
    return 0;
}

static int regions_ok(const seal_regions *r, uint64_t bytes)
{
    uint64_t at = SEAL_BYTES;
    for (int i = 0; i < r->n; i++) {
        if (r->start[i] < at || r->start[i] > bytes || r->bytes[i] > bytes - r->start[i]) return 0;
        at = r->start[i] + r->bytes[i];
    }
    return bytes >= at;
}

int seal_write(const char *path, const seal_regions *out, char *message, size_t size)
{
    char block[SEAL_BYTES], hex[65];
    struct stat st;
    errno = 0;
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    int bad = fd < 0 || fstat(fd, &st) != 0;
    REQUIRE(bad || regions_ok(out, (uint64_t)st.st_size), "regions of %s do not fit in its %lld bytes", path,
            (long long)st.st_size);
    if (!bad) bad = hash_rest(fd, (uint64_t)st.st_size, out, hex);
    if (!bad) {
        render(block, (uint64_t)st.st_size, out, hex);
        bad = file_pwrite(fd, block, sizeof block, 0);
    }
    if (bad) file_fail(message, size, "%s: writing the seal: %s", path, strerror(errno));
    if (fd >= 0) close(fd);
    return bad != 0;
}

static int parse(const char *block, uint64_t *bytes, seal_regions *r, char hex[65])
{
    int used = 0;
    r->n = 0;
    const char *p = block + sizeof title - 1;
    if (memcmp(block, title, sizeof title - 1) ||
        sscanf(p, "bytes = %" SCNu64 "\nsha256 = %64s\n%n", bytes, hex, &used) != 2)
        return -1;
    for (p += used; *p; p += used) {
        if (r->n == SEAL_REGIONS) return -1;
        used = 0;
        if (sscanf(p, "without = %" SCNu64 " %" SCNu64 "\n%n", &r->start[r->n], &r->bytes[r->n], &used) != 2 || !used)
            return -1;
        r->n++;
    }
    return 0;
}

int seal_check(const char *path, seal_regions *out, char *message, size_t size)
{
    char block[SEAL_BYTES + 1] = "", again[SEAL_BYTES], hex[65] = "", found[65];
    uint64_t bytes = 0;
    uint64_t length = 0;
    int bad = 0;
    const int fd = file_open(path, &length, &bad, message, size);
    if (!bad && length == 0) bad = file_fail(message, size, "%s: the file is empty (0 bytes)", path);
    if (!bad && file_pread(fd, block, SEAL_BYTES, 0)) bad = file_fail_read(message, size, path, "the seal");
    if (!bad && parse(block, &bytes, out, hex))
        bad = file_fail(message, size, "%s: the seal in the first %d bytes is damaged", path, SEAL_BYTES);
    if (!bad && bytes != length)
        bad = file_fail(message, size, "%s: the file has %" PRIu64 " bytes, its seal says %" PRIu64, path, length,
                         bytes);
    if (!bad) render(again, bytes, out, hex);
    if (!bad && (memcmp(block, again, SEAL_BYTES) || !regions_ok(out, bytes)))
        bad = file_fail(message, size, "%s: the seal in the first %d bytes is damaged", path, SEAL_BYTES);
    if (!bad && hash_rest(fd, bytes, out, found)) bad = file_fail_read(message, size, path, "the HDF5 structure");
    if (!bad && strcmp(found, hex))
        bad = file_fail(message, size, "%s: the structure of the HDF5 file is damaged: SHA-256 %s, its seal says %s",
                         path, found, hex);
    if (fd >= 0) close(fd);
    return bad;
}
