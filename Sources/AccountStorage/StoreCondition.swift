import Glibc

/// What can be seen of a store's files from outside, without the database's help; asking blocks.
package struct StoreCondition: Sendable {
    package let path: String
    /// Permission bits of the database and of its folder; nil for what is gone.
    package let mode: UInt32?
    package let folderMode: UInt32?
    /// Bytes of the database and of its write-ahead log.
    package let size: Int64
    package let logSize: Int64
    /// Bytes that the file system still has for this user; nil if it does not say.
    package let freeSpace: Int64?

    package init(path: String) {
        self.path = path
        let folder = PosixFile.parent(of: path)
        let file = (try? PosixFile.status(of: path)) ?? nil
        mode = file?.mode
        size = file?.size ?? 0
        folderMode = ((try? PosixFile.status(of: folder)) ?? nil)?.mode
        logSize = ((try? PosixFile.status(of: path + "-wal")) ?? nil)?.size ?? 0
        var system = statvfs()
        let isKnown = unsafe statvfs(folder, &system) == 0
        freeSpace =
            isKnown
            ? Int64(
                clamping: UInt64(system.f_bavail).multipliedReportingOverflow(by: UInt64(system.f_frsize)).partialValue
            ) : nil
    }
}
