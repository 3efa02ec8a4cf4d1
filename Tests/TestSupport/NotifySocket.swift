import Glibc

/// The service manager's end of `$NOTIFY_SOCKET` (sd_notify(3)): collects what daemons say of themselves.
package final class NotifySocket: Sendable {
    package let path: String
    /// One datagram each.
    package let messages = EventLog<String>()
    private let descriptor: Int32

    package init(at path: String) throws(TestFault) {
        self.path = path
        descriptor = try UnixSocket.bound(to: path, SOCK_DGRAM)
        startThread { [descriptor, messages] in
            var bytes = [UInt8](repeating: 0, count: 4096)
            while case let count = unsafe recv(descriptor, &bytes, bytes.count, 0), count > 0 {
                messages.append(String(decoding: bytes[..<count], as: UTF8.self))
            }
            close(descriptor)
            messages.end()
        }
    }

    deinit {
        // Wakes the reader, which closes the descriptor.
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// The last `STATUS=` that was told.
    package var status: String? {
        messages.all.reversed().lazy.compactMap { message in
            message.split(separator: "\n").first { $0.hasPrefix("STATUS=") }.map { String($0.dropFirst(7)) }
        }.first
    }
}
