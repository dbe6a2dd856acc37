/* Files that are whole or not there, and the output folder of a run.
 *
 * A file NAME is written as ".NAME.tmp" in the same folder, synced, and renamed: whoever looks sees the old file or the
 * new one, whatever happens to the program in between. What a killed run leaves under such names, the next run removes.
 *
 *   atomic_file a;
 *   if (atomic_begin(&a, "out/x.h5", bytes, message, size)) ...
 *   ... write a.temporary ...
 *   if (atomic_commit(&a, message, size)) ...                  or atomic_abandon(&a)
 *
 * Local (the rank that writes calls them): the functions atomic_*. They return 0, or -1 with a message that names the
 * file and the cause; then nothing new is left behind, and an older file of that name is untouched.
 * Collective: output_open(), output_close(). */
#ifndef PLAQ_IO_ATOMIC_H
#define PLAQ_IO_ATOMIC_H

#include <stddef.h>
#include <stdint.h>

#define ATOMIC_PATH 1024

typedef struct {
    char path[ATOMIC_PATH], temporary[ATOMIC_PATH];
} atomic_file;

/* Makes the temporary name, removes what a killed run left there, and sees that the folder can be written and has
 * `bytes` free. The file is not created. */
int atomic_begin(atomic_file *a, const char *path, uint64_t bytes, char *message, size_t size);
/* Syncs the temporary file, renames it, syncs the folder. */
int atomic_commit(atomic_file *a, char *message, size_t size);
void atomic_abandon(atomic_file *a);

/* All of the temporary file, not yet synced. When it fails, the file is abandoned. */
int atomic_fill(atomic_file *a, const void *data, size_t bytes, char *message, size_t size);
/* The whole file at once. */
int atomic_write(const char *path, const void *data, size_t bytes, char *message, size_t size);

/* Data of a file or folder on disk. Folders of some file systems cannot be synced; that is no error. */
int atomic_sync(const char *path, char *message, size_t size);
/* The entry of `path` in its folder on disk. */
void atomic_sync_folder_of(const char *path);

/* -1 with a message that says how much is missing when the file system of `folder` has less than `bytes` free. */
int atomic_free_space(const char *folder, uint64_t bytes, char *message, size_t size);
/* Creates the folder and those above it, and tries to write there. */
int atomic_make_folder(const char *folder, char *message, size_t size);
/* Removes what a killed run leaves of its checkpoints, its history and its test of the folder; returns how many. Other
 * temporary files stay, such as those of a `plaq measure --output` that is at work in the folder. */
int atomic_remove_leftovers(const char *folder);

/* The lock of a folder: plaq.lock, held by fcntl() until it is released or the process ends in whatever way; it holds
 * "HOST PID". Returns a descriptor, or -1 with a message that names the holder. */
int atomic_lock(const char *folder, char *message, size_t size);
void atomic_unlock(const char *folder, int lock);

/* Makes the output folder, takes its lock for this run, removes leftovers. An unwritable folder or one that another run
 * uses is a user error. output_close() gives the lock back. Only one folder is open at a time. */
void output_open(const char *folder);
void output_close(void);

#endif
