/// An operation of SQLite on a file whose effect survives the process.
enum FileOperation {
    /// `offset` in bytes.
    case write(offset: Int, bytes: [UInt8])
    case truncate(size: Int)
    /// All earlier operations on the file are durable.
    case sync
    /// A failed sync. The data is lost for good, because the kernel drops it (https://lwn.net/Articles/752063/).
    case failedSync
    case remove
}

/// An operation, in the order of execution.
struct RecordedOperation {
    var path: String
    var operation: FileOperation
}
