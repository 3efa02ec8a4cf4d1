internal import Glibc
internal import Basics

/// Brings a secret address to a browser. The browser is started with an address on loopback, which redirects to the
/// secret address once and then no longer works.
///
/// A program's arguments can be read by everybody on this machine (proc(5)), as long as the browser runs. The loopback
/// address is not secret, because only this user's programs get an answer.
struct SecretLink: ~Copyable {
    /// The most bytes of a request. A browser's own request has less than one thousand; its cookies for other ports of
    /// this host may add some.
    private static let requestLimit = 32 << 10
    /// The most connections. Browsers connect in advance and keep unused connections, so the oldest is closed.
    private static let connectionsMax = 8

    /// A connected browser, and what it has sent so far.
    private struct Connection {
        let descriptor: Int32
        var request: [UInt8] = []
    }

    /// The address that anybody may see.
    let link: WebLink
    private let target: WebLink
    private let path: String
    private let listener: Int32
    private var connections: [Connection] = []

    private init(_ link: WebLink, to target: WebLink, path: String, listener: Int32) {
        (self.link, self.target, self.path, self.listener) = (link, target, path, listener)
    }

    /// Why there is none.
    static let noPort = "no loopback port is free"

    /// Listens on loopback for the browser; nil if no port is available.
    static func leading(to target: WebLink) -> SecretLink? {
        let type = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
        let listener = socket(AF_INET, Int32(type), 0)
        guard listener >= 0 else { return nil }
        var generator = SystemRandomNumberGenerator()
        let path = "/" + (0..<2).map { _ in String(generator.next() as UInt64, radix: 16) }.joined(separator: "-")
        guard let port = listen(listener), let link = WebLink("http://127.0.0.1:\(port)\(path)") else {
            close(listener)
            return nil
        }
        return SecretLink(link, to: target, path: path, listener: listener)
    }

    deinit {
        close(listener)
        for connection in connections { close(connection.descriptor) }
    }

    /// The descriptors to watch. One of them becomes readable when a browser connects or sends something.
    var descriptors: [Int32] { [listener] + connections.map(\.descriptor) }

    /// Answers everybody who has connected, without waiting.
    ///
    /// - Returns: whether it was the browser, which has now been redirected.
    mutating func serve() -> Bool {
        takeConnections()
        var silent: [Connection] = []
        var isServed = false
        for var connection in connections {
            switch Self.take(&connection) {
            case .unfinished:
                silent.append(connection)
                continue
            case .whole: if answer(connection) { isServed = true }
            case .ended: break
            }
            close(connection.descriptor)
        }
        connections = silent
        return isServed
    }

    private mutating func takeConnections() {
        while case let descriptor = accept(listener, nil, nil), descriptor >= 0 {
            guard LoopbackPeer.isOwn(descriptor), fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else {
                close(descriptor)
                continue
            }
            if connections.count == Self.connectionsMax { close(connections.removeFirst().descriptor) }
            connections.append(Connection(descriptor: descriptor))
        }
    }

    private enum Progress {
        case unfinished, whole, ended
    }

    /// Reads the part of a request that has arrived.
    private static func take(_ connection: inout Connection) -> Progress {
        var chunk = [UInt8](repeating: 0, count: 4096)
        // Read everything, because closing a connection with unread data resets it, and the answer would be lost.
        while !connection.request.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            let count = unsafe recv(connection.descriptor, &chunk, chunk.count, Int32(MSG_DONTWAIT))
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return .unfinished }
            guard count > 0, connection.request.count + count <= requestLimit else { return .ended }
            connection.request += chunk[..<count]
        }
        return .whole
    }

    /// Answers a request.
    ///
    /// - Returns: whether it asked for our path and was redirected.
    private func answer(_ connection: Connection) -> Bool {
        let line = String(decoding: connection.request.prefix { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
        let isBrowser = ["GET \(path) HTTP/1.1", "GET \(path) HTTP/1.0"].contains(line)
        let head =
            isBrowser
            ? "HTTP/1.1 303 See Other\r\nLocation: \(target.text)\r\nReferrer-Policy: no-referrer\r\n"
            : "HTTP/1.1 404 Not Found\r\n"
        let reply = Array((head + "Cache-Control: no-store\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").utf8)
        // A few kilobytes, for which a new connection has room.
        let sent = unsafe send(connection.descriptor, reply, reply.count, Int32(MSG_NOSIGNAL))
        return isBrowser && sent == reply.count
    }

    /// Binds `listener` and returns its port on 127.0.0.1; nil if none is available.
    private static func listen(_ listener: Int32) -> UInt16? {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        return unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { raw in
                guard unsafe bind(listener, raw, size) == 0, Glibc.listen(listener, 8) == 0,
                    unsafe getsockname(listener, raw, &size) == 0
                else { return nil }
                return unsafe UInt16(bigEndian: pointer.pointee.sin_port)
            }
        }
    }
}

/// An address that may be passed to a browser.
struct WebLink: Hashable, Sendable {
    let text: String
    /// The host that the browser will show, with its port if there is one.
    let host: String

    /// Returns nil for anything except a web address. Browsers also accept other things, and act on them.
    init?(_ text: String) {
        guard let separator = text.firstRange(of: "://"),
            ["https", "http"].contains(text[..<separator.lowerBound].lowercased()),
            text.utf8.allSatisfy({ (0x21..<0x7F).contains($0) })
        else { return nil }
        // RFC 3986 §3.2. Text before an '@' could be mistaken for the host, and browsers also end the host at a
        // backslash.
        let authority = text[separator.upperBound...].prefix { !"/?#\\".contains($0) }
        guard !authority.isEmpty, !authority.contains("@"), !text.contains("\\") else { return nil }
        self.text = text
        host = authority.lowercased()
    }
}
