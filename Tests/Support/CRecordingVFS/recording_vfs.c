// A VFS (https://sqlite.org/vfs.html) that calls a hook, and then lets SQLite's own VFS do the work.

#include "recording_vfs.h"

#include <sqlite3.h>
#include <string.h>

static recording_vfs_hook ask;
static sqlite3_vfs *real_vfs;
static sqlite3_vfs recording;

typedef struct {
    sqlite3_file base;
    const char *path;
    // SQLite's own file, after this structure.
    sqlite3_file *real;
} recorded_file;

static sqlite3_file *real_of(sqlite3_file *file) {
    return ((recorded_file *)file)->real;
}

// Files without a name are SQLite's temporary files. A power cut cannot do harm through them.
static int asked(sqlite3_file *file, recording_vfs_operation operation, long long offset, const void *bytes, int count) {
    const char *path = ((recorded_file *)file)->path;
    return path == NULL ? SQLITE_OK : ask(operation, path, offset, bytes, count);
}

static int outcome(int answer) {
    return answer == RECORDING_VFS_DONE ? SQLITE_OK : answer;
}

static int file_close(sqlite3_file *file) {
    return real_of(file)->pMethods->xClose(real_of(file));
}

static int file_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    int answer = asked(file, RECORDING_VFS_READ, offset, NULL, count);
    return answer != SQLITE_OK ? outcome(answer) : real_of(file)->pMethods->xRead(real_of(file), bytes, count, offset);
}

static int file_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    int answer = asked(file, RECORDING_VFS_WRITE, offset, bytes, count);
    return answer != SQLITE_OK ? outcome(answer) : real_of(file)->pMethods->xWrite(real_of(file), bytes, count, offset);
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
    int answer = asked(file, RECORDING_VFS_TRUNCATE, size, NULL, 0);
    return answer != SQLITE_OK ? outcome(answer) : real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int file_sync(sqlite3_file *file, int flags) {
    int answer = asked(file, RECORDING_VFS_SYNC, 0, NULL, 0);
    return answer != SQLITE_OK ? outcome(answer) : real_of(file)->pMethods->xSync(real_of(file), flags);
}

static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
    return real_of(file)->pMethods->xFileSize(real_of(file), size);
}

static int file_lock(sqlite3_file *file, int lock) {
    return real_of(file)->pMethods->xLock(real_of(file), lock);
}

static int file_unlock(sqlite3_file *file, int lock) {
    return real_of(file)->pMethods->xUnlock(real_of(file), lock);
}

static int file_check_reserved_lock(sqlite3_file *file, int *is_held) {
    return real_of(file)->pMethods->xCheckReservedLock(real_of(file), is_held);
}

static int file_control(sqlite3_file *file, int operation, void *argument) {
    return real_of(file)->pMethods->xFileControl(real_of(file), operation, argument);
}

static int file_sector_size(sqlite3_file *file) {
    return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int file_device_characteristics(sqlite3_file *file) {
    return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

// Version 1 has no shared memory and no memory maps. The store uses neither, and operations on them could not be recorded.
static const sqlite3_io_methods methods = {
    .iVersion = 1,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_reserved_lock,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_device_characteristics,
};

static int vfs_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out_flags) {
    (void)vfs;
    recorded_file *recorded = (recorded_file *)file;
    memset(recorded, 0, sizeof *recorded);
    recorded->path = path;
    recorded->real = (sqlite3_file *)(recorded + 1);
    int result = real_vfs->xOpen(real_vfs, path, recorded->real, flags, out_flags);
    // SQLite closes a file that has methods, also after a failure.
    if (recorded->real->pMethods != NULL) recorded->base.pMethods = &methods;
    return result;
}

static int vfs_delete(sqlite3_vfs *vfs, const char *path, int syncs_folder) {
    (void)vfs;
    int answer = ask(RECORDING_VFS_REMOVE, path, 0, NULL, 0);
    return answer != SQLITE_OK ? outcome(answer) : real_vfs->xDelete(real_vfs, path, syncs_folder);
}

int recording_vfs_install(recording_vfs_hook hook) {
    ask = hook;
    real_vfs = sqlite3_vfs_find(NULL);
    if (real_vfs == NULL) return SQLITE_ERROR;
    recording = *real_vfs;
    recording.zName = "recording";
    recording.pNext = NULL;
    recording.szOsFile = (int)sizeof(recorded_file) + real_vfs->szOsFile;
    recording.xOpen = vfs_open;
    recording.xDelete = vfs_delete;
    return sqlite3_vfs_register(&recording, 1);
}
