internal import CRecordingVFS
internal import Synchronization

/// Records the operations of SQLite on its files, and makes them fail if wanted. Only one can exist in a process,
/// because SQLite has one default VFS.
enum Recorder {
    /// Operations that fail.
    struct Fault {
        enum Kind: CaseIterable {
            case read, write, fullDisk, truncate, sync
        }

        var kind: Kind
        /// The number of the first operation of this kind that fails, from 0.
        var first: Int
        /// How many operations fail in a row.
        var count: Int
    }

    private struct State {
        var isRecording = false
        var operations: [RecordedOperation] = []
        var fault: Fault?
        /// How many operations of the fault's kind have occurred.
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

    /// Begins a recording. The previous recording is deleted.
    ///
    /// - Parameter fault: the operations that fail; nil for none.
    static func begin(_ fault: Fault? = nil) {
        state.withLock { $0 = State(isRecording: true, fault: fault) }
    }

    /// The number of operations recorded so far.
    static var count: Int { state.withLock { $0.operations.count } }

    /// Whether an operation was made to fail.
    static var hasFailed: Bool {
        state.withLock { state in state.fault.map { state.seen > $0.first } ?? false }
    }

    /// Ends the recording and returns it.
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
                // Nothing that is checked afterwards has to be durable. With real syncs the checks would mostly wait
                // for the disk.
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

    /// The result code with which the operation fails; nil if it is done.
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

    /// The extended result code that SQLite's own VFS gives in this case.
    var code: Int32 {
        switch self {
        case .read: 10 | 1 << 8
        case .write: 10 | 3 << 8
        case .fullDisk: 13
        case .truncate: 10 | 6 << 8
        case .sync: 10 | 4 << 8
        }
    }

    /// The name in the report.
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
