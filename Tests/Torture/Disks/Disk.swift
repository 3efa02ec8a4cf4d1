internal import TestSupport

/// What a disk holds of some files while SQLite works on them: what is safe, and what only the kernel knows yet.
struct Disk {
    /// How much of what was not synced is on disk after the power has failed.
    enum Loss {
        /// None of it.
        case all
        /// All of it.
        case nothing
        /// Each sector of 512 bytes by itself, with this probability, in whatever order the disk wrote them.
        case sectors(kept: Double)
    }

    private struct File {
        var safe: [UInt8] = []
        /// Whether the file's name is on disk.
        var isSafe = false
        var pending: [FileOperation] = []
    }

    private static let sector = 512

    private var files: [String: File] = [:]

    init() {}

    /// A disk where everything is safe.
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

    /// What is found in the files after a power cut now.
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
