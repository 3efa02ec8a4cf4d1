#pragma once

/// An operation of SQLite on a file.
typedef enum {
    RECORDING_VFS_READ,
    RECORDING_VFS_WRITE,
    RECORDING_VFS_TRUNCATE,
    RECORDING_VFS_SYNC,
    RECORDING_VFS_REMOVE,
} recording_vfs_operation;

/// Called before an operation is done.
///
/// `offset` is the new size if the file is truncated. `bytes` are the `count` bytes that are written, and `NULL` for
/// other operations. Returns 0 to have it done; `RECORDING_VFS_DONE` to leave it out and report success; an SQLite
/// result code to make it fail.
typedef int (*recording_vfs_hook)(recording_vfs_operation operation, const char *path, long long offset, const void *bytes,
    int count);

/// A return value for a hook: the operation is left out, and reported as done.
#define RECORDING_VFS_DONE (-1)

/// Makes SQLite call `hook` for each file that it opens from now on. Call it once in a process.
///
/// Returns an SQLite result code.
int recording_vfs_install(recording_vfs_hook hook);
