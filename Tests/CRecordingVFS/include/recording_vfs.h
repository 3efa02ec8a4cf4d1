#pragma once

/// What SQLite does to a file.
typedef enum {
    RECORDING_VFS_READ,
    RECORDING_VFS_WRITE,
    RECORDING_VFS_TRUNCATE,
    RECORDING_VFS_SYNC,
    RECORDING_VFS_REMOVE,
} recording_vfs_operation;

/// Asked before an operation is done.
///
/// `offset` is the new size of a file that is truncated; `bytes`, `count` of them, is what is written, and `NULL` otherwise.
/// Returns 0 to have it done; `RECORDING_VFS_DONE` to have SQLite believe that it was; an SQLite result code to have it fail.
typedef int (*recording_vfs_hook)(recording_vfs_operation operation, const char *path, long long offset, const void *bytes,
    int count);

/// For a hook to return: the operation is left out, and reported as done.
#define RECORDING_VFS_DONE (-1)

/// Makes SQLite ask `hook` about every file that it opens from now on. Once a process.
///
/// Returns an SQLite result code.
int recording_vfs_install(recording_vfs_hook hook);
