/// Something that SQLite did to a file, and that outlasts the process.
enum FileOperation {
    /// `offset` in bytes.
    case write(offset: Int, bytes: [UInt8])
    case truncate(size: Int)
    /// All that was done to the file before is on disk.
    case sync
    /// A sync that failed: what it was to bring to disk is lost for good, as the kernel drops it (https://lwn.net/Articles/752063/).
    case failedSync
    case remove
}

/// An operation in the order in which it was done.
struct RecordedOperation {
    var path: String
    var operation: FileOperation
}
