import Glibc
import Synchronization

/// A connection to the daemon's socket that sends any text. Its calls block, so use it on a thread of its own.
package final class RawConnection: Sendable {
    private let descriptor: Int32
    /// The bytes that were received and not returned yet.
    private let received = Mutex<ArraySlice<UInt8>>([])

    package init(_ path: String) throws(TestFault) {
        descriptor = try UnixSocket.connected(to: path, SOCK_STREAM)
        var limit = timeval(tv_sec: Int(Duration.patience.components.seconds), tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    package static func open(_ count: Int, to path: String) throws(TestFault) -> [RawConnection] {
        var connections: [RawConnection] = []
        for _ in 0..<count { connections.append(try RawConnection(path)) }
        return connections
    }

    /// Sends `text` unchanged. Bytes that the other side no longer reads are lost.
    package func send(_ text: String) throws(TestFault) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let sent = unsafe rest.withUnsafeBytes { bytes in
                unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { return }
            rest = rest.dropFirst(sent)
        }
    }

    /// Ends the sending direction.
    package func finish() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// The next message without its NUL. If the connection ends before the NUL, returns what has arrived.
    ///
    /// - Throws: `timedOut` after two minutes of silence.
    package func receive() throws(TestFault) -> String {
        var message: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let isWhole = received.withLock { received in
                let end = received.firstIndex(of: 0)
                message += received[..<(end ?? received.endIndex)]
                received = end.map { received[($0 + 1)...] } ?? []
                return end != nil
            }
            if isWhole { break }
            let count = unsafe recv(descriptor, &piece, piece.count, 0)
            guard count >= 0 || errno == ECONNRESET else { throw .timedOut(waitingFor: "a message") }
            guard count > 0 else { break }
            received.withLock { $0 = piece[..<count] }
        }
        return String(decoding: message, as: UTF8.self)
    }
}
