/* Files that are whole or not there, and the output folder of a run.
 *
 * A file NAME is written as ".NAME.TAG.tmp" in the same folder, synced, and renamed: whoever looks sees the old file or
 * the new one, whatever happens to the program in between. TAG is of the host and the process, so that two processes
 * that write the same file never write into each other's. What a killed run leaves under such names, the next run
 * removes. Where NAME is a symbolic link, the file that it leads to is replaced, and the link stays.
 *
 *   atomic_file a;
 *   if (atomic_begin(&a, "out/x.h5", bytes, message, size)) ...
 *   ... write a.temporary ...
 *   if (atomic_commit(&a, message, size)) ...                  or atomic_abandon(&a)
 *
 * Local (the rank that writes calls them): the functions atomic_*. They return 0, or -1 with a message that names the
 * file and the cause; then nothing new is left behind, and an older file of that name is untouched.
 * Collective: output_open(), output_close(), output_could_open(). */
#ifndef PLAQ_IO_ATOMIC_H
#define PLAQ_IO_ATOMIC_H

#include <stddef.h>
#include <stdint.h>

#define ATOMIC_PATH 1024

typedef struct {
    char path[ATOMIC_PATH], temporary[ATOMIC_PATH + 40];
} atomic_file;

/* Makes the temporary name, removes those of dead processes of this host, and sees that `path` is no folder, and that
 * its folder can be written and has `bytes` free. The file is not created. */
int atomic_begin(atomic_file *a, const char *path, uint64_t bytes, char *message, size_t size);
/* The temporary file, empty and open for writing: its descriptor, or -1. */
int atomic_create(const atomic_file *a, char *message, size_t size);
/* Syncs the temporary file, renames it, syncs the folder. */
int atomic_commit(atomic_file *a, char *message, size_t size);
void atomic_abandon(atomic_file *a);

/* Writes the whole temporary file, without a sync. When that fails, the file is abandoned. */
int atomic_fill(atomic_file *a, const void *data, size_t bytes, char *message, size_t size);
/* Tests if a file can be written later: its folder is there, can be written and has `bytes` free. Leaves nothing. */
int atomic_can_write(const char *path, uint64_t bytes, char *message, size_t size);
/* The whole file at once. */
int atomic_write(const char *path, const void *data, size_t bytes, char *message, size_t size);

/* Data of a file or folder on disk. Folders of some file systems cannot be synced; that is no error. */
int atomic_sync(const char *path, char *message, size_t size);
/* The entry of `path` in its folder on disk. */
void atomic_sync_folder_of(const char *path);

/* Tests the free space: -1, and the message says how much is missing, when the file system of `folder` has less than
 * `bytes`. */
int atomic_free_space(const char *folder, uint64_t bytes, char *message, size_t size);
/* Creates the folder and those above it, and tries to write there. `made`, unless NULL, gets the length of the part of
 * the name that was there before: what is longer was made, and is removed again on failure. */
int atomic_make_folder(const char *folder, size_t *made, char *message, size_t size);
/* Removes what a killed run leaves of its checkpoints, its history and its test of the folder; returns how many. Other
 * temporary files stay, such as those of a `plaq measure --output` that is at work in the folder. */
int atomic_remove_leftovers(const char *folder);

/* A lock, held by fcntl() until it is released or the process ends in whatever way; the lock file names the host and the
 * process. `release` gives it back and removes its file. */
typedef struct {
    char path[ATOMIC_PATH + 32];
    int fd; /* -1: not held */
} atomic_lock;

/* The lock of a folder, plaq.lock. -1 with a message that names the holder, when there is one. */
int atomic_lock_folder(atomic_lock *lock, const char *folder, char *message, size_t size);
/* The lock of a file that is read, changed and written again, ".NAME.lock" beside it. Waits up to `seconds` for another
 * process that holds it. The temporary files of dead writers of that file are removed. */
int atomic_lock_file(atomic_lock *lock, const char *path, double seconds, char *message, size_t size);
void atomic_release(atomic_lock *lock);

/* Makes the output folder, takes its lock for this run, removes leftovers. An unwritable folder or one that another run
 * uses is a user error. Only one folder is open at a time. output_close(), which exit() calls too, gives the lock back
 * and removes the folders that output_open() made and nothing was written to: a start that is refused leaves nothing. */
void output_open(const char *folder);
void output_close(void);

/* True if output_open() could make the folder and write there; else 0, with a message. Leaves nothing behind. Collective. */
int output_could_open(const char *folder, char *message, size_t size);

#endif
