import Glibc

/// The service manager's end of `$NOTIFY_SOCKET` (sd_notify(3)). Collects the messages of daemons.
package final class NotifySocket: Sendable {
    package let path: String
    /// The messages, one for each datagram.
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
        // This wakes the reader, which then closes the descriptor.
        shutdown(descriptor, Int32(SHUT_RDWR))
    }

    /// The last `STATUS=` message.
    package var status: String? {
        messages.all.reversed().lazy.compactMap { message in
            message.split(separator: "\n").first { $0.hasPrefix("STATUS=") }.map { String($0.dropFirst(7)) }
        }.first
    }
}
