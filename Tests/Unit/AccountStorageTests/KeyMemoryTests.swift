import Foundation
import Glibc
import RefreshCore
import Testing

@testable import AccountStorage

/// Searches a process's memory for what is left of a secret or a key after it was made, stored, read and released.
///
/// Each test uses a process of its own, because other tests run in this one at the same time.
struct KeyMemoryTests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    @Test func `no digits of a key stay in memory`() async throws {
        await #expect(processExitsWith: .success) { [folder = folder.path as String] in
            let source = StoreKeySource(credentialsDirectory: nil, stateDirectory: folder)
            _ = try source.createFile()
            for _ in 0..<3 { #expect(try source.files().count == 1) }
            let digits = try MemoryPage(contentsOf: source.keyFilePath)
            #expect(digits.count == 65)
            // The allocator overwrites the first bytes of freed memory.
            #expect(try digits.copiesElsewhere(of: 20..<52) == 0)
        }
    }

    @Test func `nothing of a secret stays in freed memory`() async throws {
        let path = folder.file("token")
        // Random, because a literal of the program is in its memory from the beginning. Long, because the search itself
        // allocates memory, which would overwrite a short secret.
        let token = (0..<2048).map { _ in String(UInt64.random(in: 1 << 63...UInt64.max), radix: 16) }.joined()
        try Data(token.utf8).write(to: URL(fileURLWithPath: path))
        await #expect(processExitsWith: .success) { [path = path as String] in
            let page = try MemoryPage(contentsOf: path)
            var secret: Secret? = page.secret()
            let part = page.count - 64..<page.count - 32
            let held = try page.copiesElsewhere(of: part)
            #expect(secret?.count == page.count)
            secret = nil
            let freed = try page.copiesElsewhere(of: part)
            #expect(held == 1 && freed == 0, "\(held) copies while it is held, \(freed) afterwards")
        }
    }

    @Test func `the memory search finds a secret that is there`() async throws {
        let path = folder.file("text")
        try Data("a text that this test keeps in its memory on purpose".utf8).write(to: URL(fileURLWithPath: path))
        await #expect(processExitsWith: .success) { [path = path as String] in
            let page = try MemoryPage(contentsOf: path)
            let kept = try Data(contentsOf: URL(fileURLWithPath: path))
            #expect(try page.copiesElsewhere(of: 10..<50) >= 1)
            withExtendedLifetime(kept) {}
        }
    }
}

/// A file's contents in memory of their own, to be searched for in all other memory of the process.
@safe private final class MemoryPage {
    private static let size = 1 << 20

    private let start: UnsafeMutableRawPointer
    let count: Int

    init(contentsOf path: String) throws {
        guard let start = unsafe Self.map() else { throw POSIXError(.ENOMEM) }
        unsafe self.start = start
        let file = unsafe open(path, O_RDONLY)
        count = unsafe max(read(file, start, Self.size), 0)
        close(file)
    }

    deinit { unsafe munmap(start, Self.size) }

    /// The same bytes as a secret, without another copy.
    func secret() -> Secret {
        unsafe Secret(capacity: count) { place in
            unsafe place.copyMemory(from: UnsafeRawBufferPointer(start: start, count: count))
            return count
        }
    }

    private static func map() -> UnsafeMutableRawPointer? {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS
        let start = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, flags, -1, 0)
        return unsafe start == MAP_FAILED ? nil : start
    }

    /// How often these bytes occur in writable memory outside this page.
    func copiesElsewhere(of range: Range<Int>) throws -> Int {
        let memory = unsafe open("/proc/self/mem", O_RDONLY)
        defer { close(memory) }
        guard memory >= 0, let window = unsafe Self.map() else { throw POSIXError(.EACCES) }
        defer { unsafe munmap(window, Self.size) }
        let ours = unsafe [UInt(bitPattern: start), UInt(bitPattern: window)].map { $0..<$0 + UInt(Self.size) }
        let wanted = unsafe UnsafeRawBufferPointer(start: start + range.lowerBound, count: range.count)
        var copies = 0
        for region in try Self.writableRegions() {
            var place = region.lowerBound
            while place + UInt(range.count) <= region.upperBound {
                let length = min(Int(region.upperBound - place), Self.size)
                let count = unsafe pread(memory, window, length, Int(place))
                guard count == length else { break }
                for offset in unsafe Self.offsets(of: wanted, in: UnsafeRawBufferPointer(start: window, count: count)) {
                    let address = place + UInt(offset)
                    if !ours.contains(where: { $0.contains(address) }) { copies += 1 }
                }
                // Occurrences may lie across the border of two windows.
                place += UInt(length - range.count + 1)
            }
        }
        return copies
    }

    private static func offsets(of wanted: UnsafeRawBufferPointer, in bytes: UnsafeRawBufferPointer) -> [Int] {
        guard let base = bytes.baseAddress, let first = wanted.baseAddress else { return [] }
        var offsets: [Int] = []
        var from = 0
        while from + wanted.count <= bytes.count,
            let hit = unsafe memchr(base + from, Int32(wanted[0]), bytes.count - wanted.count - from + 1)
        {
            let offset = unsafe UnsafeRawPointer(hit) - base
            if unsafe memcmp(base + offset, first, wanted.count) == 0 { offsets.append(offset) }
            from = offset + 1
        }
        return offsets
    }

    private static func writableRegions() throws -> [Range<UInt>] {
        try String(contentsOfFile: "/proc/self/maps", encoding: .utf8).split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 1, fields[1].hasPrefix("rw") else { return nil }
            let bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            return bounds.count == 2 ? bounds[0]..<bounds[1] : nil
        }
    }
}
