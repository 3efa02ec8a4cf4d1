import Glibc
import TestSupport

/// An HTTP endpoint on loopback that answers when a test says so.
struct HeldEndpoint {
    private let listener: Int32
    let port: UInt16

    init() throws {
        (listener, port) = try LoopbackSocket.listening()
    }

    /// A port on which nobody listens, as far as can be known.
    static func freePort() throws -> UInt16 {
        let endpoint = try HeldEndpoint()
        close(endpoint.listener)
        return endpoint.port
    }

    /// Waits for a request. Returns its connection.
    func request() async throws -> Int32 {
        try await onOwnThread { [listener] in
            try Self.wait(for: listener)
            let connection = accept(listener, nil, nil)
            // The client regards an answer before its request as an error, and closes the connection.
            try Self.wait(for: connection)
            return connection
        }
    }

    private static func wait(for descriptor: Int32) throws {
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard unsafe poll(&waiting, 1, 120_000) == 1 else { throw TestFault.timedOut(waitingFor: "a request") }
    }

    /// Answers with 200 and no body.
    ///
    /// - Parameter isLast: whether to accept no more requests.
    func answer(_ connection: Int32, isLast: Bool = true) async throws {
        try await onOwnThread { [listener] in
            Self.answer(connection)
            if isLast { close(listener) }
        }
    }

    private static func answer(_ connection: Int32) {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        _ = unsafe write(connection, text, text.utf8.count)
        // If a connection is closed with unread data, it is reset, and its answer may be lost.
        shutdown(connection, Int32(SHUT_WR))
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        unsafe setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var rest = [UInt8](repeating: 0, count: 4096)
        while unsafe read(connection, &rest, rest.count) > 0 {}
        close(connection)
    }
}
