internal import CRecordingVFS
internal import Synchronization

/// Watches what SQLite does to its files, and makes it fail where that is wanted. One a process: SQLite has one default VFS.
enum Recorder {
    /// An operation that is to fail.
    struct Fault {
        enum Kind: CaseIterable {
            case read, write, fullDisk, truncate, sync
        }

        var kind: Kind
        /// Which operation of this kind is the first to fail, from 0.
        var first: Int
        /// How many of them fail, one after the other.
        var count: Int
    }

    private struct State {
        var isRecording = false
        var operations: [RecordedOperation] = []
        var fault: Fault?
        /// Operations of the fault's kind that were seen.
        var seen = 0
    }

    private static let state = Mutex(State())

    /// - Throws: SQLite's result code.
    static func install() throws(VFSError) {
        let code = unsafe recording_vfs_install { operation, path, offset, bytes, count in
            guard let path = unsafe path else { return 0 }
            let contents = unsafe UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : Int(count))
            return unsafe Recorder.answer(operation, String(cString: path), Int(offset), contents)
        }
        guard code == 0 else { throw VFSError(code: code) }
    }

    struct VFSError: Error {
        var code: Int32
    }

    /// Begins to record; forgets what was recorded before.
    ///
    /// - Parameter fault: what fails meanwhile; nil if nothing does.
    static func begin(_ fault: Fault? = nil) {
        state.withLock { $0 = State(isRecording: true, fault: fault) }
    }

    /// How many operations were recorded so far.
    static var count: Int { state.withLock { $0.operations.count } }

    /// Whether an operation was made to fail.
    static var hasFailed: Bool {
        state.withLock { state in state.fault.map { state.seen > $0.first } ?? false }
    }

    /// Stops, and gives what was recorded.
    static func end() -> [RecordedOperation] {
        state.withLock { state in
            let operations = state.operations
            state = State()
            return operations
        }
    }

    private static func answer(
        _ operation: recording_vfs_operation,
        _ path: String,
        _ offset: Int,
        _ bytes: UnsafeRawBufferPointer
    ) -> Int32 {
        state.withLock { state in
            guard state.isRecording else {
                // Nothing that is looked at afterwards has to last: the checks would wait for the disk most of the time.
                return operation == RECORDING_VFS_SYNC ? RECORDING_VFS_DONE : 0
            }
            if let code = failure(of: operation, &state) {
                if operation == RECORDING_VFS_SYNC {
                    state.operations.append(RecordedOperation(path: path, operation: .failedSync))
                }
                return code
            }
            switch operation {
            case RECORDING_VFS_WRITE:
                let write = unsafe FileOperation.write(offset: offset, bytes: Array(bytes))
                state.operations.append(RecordedOperation(path: path, operation: write))
            case RECORDING_VFS_TRUNCATE:
                state.operations.append(RecordedOperation(path: path, operation: .truncate(size: offset)))
            case RECORDING_VFS_REMOVE:
                state.operations.append(RecordedOperation(path: path, operation: .remove))
            case RECORDING_VFS_SYNC:
                state.operations.append(RecordedOperation(path: path, operation: .sync))
                return RECORDING_VFS_DONE
            default: break
            }
            return 0
        }
    }

    /// The result code that the operation ends with; nil if it is to be done.
    private static func failure(of operation: recording_vfs_operation, _ state: inout State) -> Int32? {
        guard let fault = state.fault, operation == fault.kind.operation else { return nil }
        defer { state.seen += 1 }
        return (fault.first..<fault.first + fault.count).contains(state.seen) ? fault.kind.code : nil
    }
}

extension Recorder.Fault.Kind {
    var operation: recording_vfs_operation {
        switch self {
        case .read: RECORDING_VFS_READ
        case .write, .fullDisk: RECORDING_VFS_WRITE
        case .truncate: RECORDING_VFS_TRUNCATE
        case .sync: RECORDING_VFS_SYNC
        }
    }

    /// The extended result code that SQLite's own VFS has for it.
    var code: Int32 {
        switch self {
        case .read: 10 | 1 << 8
        case .write: 10 | 3 << 8
        case .fullDisk: 13
        case .truncate: 10 | 6 << 8
        case .sync: 10 | 4 << 8
        }
    }

    /// As the report calls it.
    var name: String {
        switch self {
        case .read: "a read fails"
        case .write: "a write fails"
        case .fullDisk: "the disk is full"
        case .truncate: "a truncation fails"
        case .sync: "a sync fails"
        }
    }
}
