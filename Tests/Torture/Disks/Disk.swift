internal import TestSupport

/// The disk's content of some files during SQLite's work: the durable part, and the part that only the kernel has.
struct Disk {
    /// The part of the data without sync that is on disk after a power failure.
    enum Loss {
        /// None of it.
        case all
        /// All of it.
        case nothing
        /// Each sector of 512 bytes with this probability, in any order of writing.
        case sectors(kept: Double)
    }

    private struct File {
        var safe: [UInt8] = []
        /// Whether the file's name is durable.
        var isSafe = false
        var pending: [FileOperation] = []
    }

    private static let sector = 512

    private var files: [String: File] = [:]

    init() {}

    /// A disk on which everything is durable.
    init(_ contents: [String: [UInt8]]) {
        files = contents.mapValues { File(safe: $0, isSafe: true) }
    }

    mutating func apply(_ recorded: RecordedOperation) {
        var file = files[recorded.path] ?? File()
        switch recorded.operation {
        case .write, .truncate:
            file.pending.append(recorded.operation)
        case .sync:
            for operation in file.pending { Self.apply(operation, to: &file.safe) }
            file.pending = []
            file.isSafe = true
        case .failedSync:
            file.pending = []
        case .remove:
            files[recorded.path] = nil
            return
        }
        files[recorded.path] = file
    }

    /// The content of the files after a power failure now.
    func contents(after loss: Loss, _ random: inout SplitMix64) -> [String: [UInt8]] {
        var contents: [String: [UInt8]] = [:]
        for (path, file) in files.sorted(by: { $0.key < $1.key }) {
            var bytes = file.safe
            var isThere = file.isSafe
            for operation in file.pending {
                for part in Self.survivors(of: operation, loss, &random) {
                    Self.apply(part, to: &bytes)
                    isThere = true
                }
            }
            if isThere { contents[path] = bytes }
        }
        return contents
    }

    private static func survivors(
        of operation: FileOperation,
        _ loss: Loss,
        _ random: inout SplitMix64
    ) -> [FileOperation] {
        let kept: Double
        switch loss {
        case .all: return []
        case .nothing: return [operation]
        case .sectors(let probability): kept = probability
        }
        guard case .write(let offset, let bytes) = operation else {
            return random.chance(kept) ? [operation] : []
        }
        var parts: [FileOperation] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + sector - (offset + start) % sector)
            if random.chance(kept) {
                parts.append(.write(offset: offset + start, bytes: Array(bytes[start..<end])))
            }
            start = end
        }
        return parts
    }

    private static func apply(_ operation: FileOperation, to contents: inout [UInt8]) {
        switch operation {
        case .write(let offset, let bytes):
            let end = offset + bytes.count
            if contents.count < end { contents += repeatElement(0, count: end - contents.count) }
            contents.replaceSubrange(offset..<end, with: bytes)
        case .truncate(let size):
            if contents.count > size {
                contents.removeLast(contents.count - size)
            } else {
                contents += repeatElement(0, count: size - contents.count)
            }
        case .sync, .failedSync, .remove: break
        }
    }
}
