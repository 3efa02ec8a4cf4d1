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

extension StoreKeyring {
    /// Where the key of this identifier is found now, if the daemon were started again; nil if nowhere. Blocks.
    ///
    /// - Throws: what a new start would stumble over.
    package func locate(_ identifier: String) throws(StoreKeyError) -> StoreKeyPlace? {
        let atHand = try source.credentials() + source.files()
        if let held = atHand.first(where: { $0.key.identifier == identifier }) { return held.place }
        guard usesSecretService else { return nil }
        return try secretService.keys().first { $0.key.identifier == identifier }?.place
    }
}
