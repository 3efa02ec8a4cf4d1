import Glibc

/// Everything that a web server sent on one connection.
package struct WebReply: Sendable {
    /// The status; nil if there was no answer, or one that is not HTTP.
    package let status: Int?
    /// The headers, with names in lower case.
    package let headers: [String: String]
    package let body: String

    init(_ text: String) {
        guard let end = text.firstRange(of: "\r\n\r\n") else {
            (status, headers, body) = (nil, [:], "")
            return
        }
        let lines = text[..<end.lowerBound].split(separator: "\r\n")
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            headers[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
        }
        status = lines.first.flatMap { Int($0.split(separator: " ").dropFirst().first ?? "") }
        self.headers = headers
        body = String(text[end.upperBound...])
    }
}

/// A browser for tests. It follows no redirects, and can send requests that no browser would send.
package enum RawWeb {
    /// Sends a GET to `url`, which is on loopback.
    package static func get(_ url: String, headers: [String] = []) async throws -> WebReply {
        let target = try Target(url)
        let lines = ["GET \(target.path) HTTP/1.1", "Host: \(target.host)"] + headers + ["Connection: close", "", ""]
        return try await send(lines.joined(separator: "\r\n"), to: target)
    }

    /// Posts a form to `url`, which is on loopback.
    package static func post(_ url: String, _ form: String, headers: [String] = []) async throws -> WebReply {
        let target = try Target(url)
        let own = [
            "POST \(target.path) HTTP/1.1", "Host: \(target.host)", "Content-Length: \(form.utf8.count)",
            "Content-Type: application/x-www-form-urlencoded", "Connection: close",
        ]
        return try await send((own + headers + ["", form]).joined(separator: "\r\n"), to: target)
    }

    /// Sends `text` unchanged to the host of `url`, and reads until the other side closes.
    package static func send(_ text: String, to url: String) async throws -> WebReply {
        try await send(text, to: try Target(url))
    }

    private static func send(_ text: String, to target: Target) async throws -> WebReply {
        try await onOwnThread {
            let connection = try WebConnection(target.address, port: target.port)
            connection.send(text)
            return WebReply(try connection.readToEnd())
        }
    }
}

/// A TCP connection to loopback. Its calls block, so use it on a thread of its own.
package final class WebConnection: Sendable {
    private let descriptor: Int32

    /// - Parameter address: `127.0.0.1`, `::1`, or `::ffff:127.0.0.1` for an IPv6 socket with an IPv4 connection.
    package init(_ address: String, port: Int) throws(TestFault) {
        let isIPv6 = address.contains(":")
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, type, 0)
        let result = isIPv6 ? Self.connect6(descriptor, address, port) : Self.connect4(descriptor, port)
        guard result == 0 else { throw .system("connect to port \(port)", errno: errno) }
        var limit = timeval(tv_sec: Int(Duration.patience.components.seconds), tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// Sends `text` unchanged. Bytes that the other side no longer reads are lost.
    package func send(_ text: String) {
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let sent = unsafe rest.withUnsafeBytes { bytes in
                unsafe Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { return }
            rest = rest.dropFirst(sent)
        }
    }

    /// Everything until the other side closes.
    ///
    /// - Throws: `timedOut` after two minutes of silence.
    package func readToEnd() throws(TestFault) -> String {
        var all: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = unsafe recv(descriptor, &piece, piece.count, 0)
            guard count >= 0 || errno == ECONNRESET else { throw .timedOut(waitingFor: "the end of an answer") }
            guard count > 0 else { return String(decoding: all, as: UTF8.self) }
            all += piece[..<count]
        }
    }

    private static func connect4(_ descriptor: Int32, _ port: Int) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port)).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        return unsafe withUnsafePointer(to: address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    private static func connect6(_ descriptor: Int32, _ host: String, _ port: Int) -> Int32 {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = in_port_t(UInt16(port)).bigEndian
        guard unsafe inet_pton(AF_INET6, host, &address.sin6_addr) == 1 else { return -1 }
        return unsafe withUnsafePointer(to: address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
            }
        }
    }
}

extension RawWeb {
    /// The host, port and path of a URL on loopback.
    private struct Target {
        let address: String
        let host: String
        let port: Int
        let path: String

        init(_ url: String) throws(TestFault) {
            let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
            guard parts.count >= 3, parts[0] == "http:", let colon = parts[2].lastIndex(of: ":"),
                let port = Int(parts[2][parts[2].index(after: colon)...])
            else { throw .unreadable(url) }
            host = String(parts[2])
            address = host.hasPrefix("[") ? "::1" : "127.0.0.1"
            self.port = port
            path = "/" + (parts.count > 3 ? parts[3] : "")
        }
    }
}
