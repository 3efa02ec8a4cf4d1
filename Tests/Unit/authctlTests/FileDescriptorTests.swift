import Foundation
import TestSupport
import Testing

@testable import authctl

@Suite struct FileDescriptorTests {
    @Test func `a non-blocking output gets everything that is written`() async throws {
        var ends: [Int32] = [0, 0]
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
        #expect(unsafe socketpair(AF_UNIX, type, 0, &ends) == 0)
        let (reading, writing) = (ends[0], ends[1])
        defer { close(reading) }
        _ = fcntl(writing, F_SETFL, O_NONBLOCK)
        // More than a socket buffers.
        let text = String(repeating: "0123456789abcdef", count: 64 << 10)
        async let failure = onOwnThread {
            defer { close(writing) }
            return FileDescriptor.write(text, to: writing)
        }
        let received = try await onOwnThread {
            try FileHandle(fileDescriptor: reading, closeOnDealloc: false).readToEnd()
        }
        #expect(try await failure == 0)
        #expect(received == Data(text.utf8))
    }
}
