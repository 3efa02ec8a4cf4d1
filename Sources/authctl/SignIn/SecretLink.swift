internal import Glibc
internal import LoopbackPeer

/// An address with a secret in it, on its way to a browser: what the browser is started with leads there once, and to nothing after that.
///
/// A program's arguments are for everybody of this machine to read (proc(5)), for as long as the browser lives. So it gets an address on
/// loopback, and is sent on from there. What it gets is no secret any more once it is started: only programs of this user are answered.
struct SecretLink: ~Copyable {
    /// Bytes. A browser's own request is less than one thousand; its cookies for other ports of this host may be some more.
    private static let requestLimit = 32 << 10
    /// Browsers connect in advance, and keep what they do not use: the oldest makes room.
    private static let connectionsMax = 8

    /// A browser that has connected, and what it has said so far.
    private struct Connection {
        let descriptor: Int32
        var request: [UInt8] = []
    }

    /// What may be seen by anybody.
    let link: WebLink
    private let target: WebLink
    private let path: String
    private let listener: Int32
    private var connections: [Connection] = []

    private init(_ link: WebLink, to target: WebLink, path: String, listener: Int32) {
        (self.link, self.target, self.path, self.listener) = (link, target, path, listener)
    }

    /// Waits on loopback for the browser; nil if no port is to be had there.
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

    /// One of them has something to read when a browser comes, or says something.
    var descriptors: [Int32] { [listener] + connections.map(\.descriptor) }

    /// Answers whoever has come; does not wait.
    ///
    /// - Returns: whether it was the browser, which is on its way now.
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

    /// Reads what has come of a request.
    private static func take(_ connection: inout Connection) -> Progress {
        var chunk = [UInt8](repeating: 0, count: 4096)
        // All of it: a connection that is closed with something unread is reset, and its answer lost.
        while !connection.request.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            let count = unsafe recv(connection.descriptor, &chunk, chunk.count, Int32(MSG_DONTWAIT))
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN { return .unfinished }
            guard count > 0, connection.request.count + count <= requestLimit else { return .ended }
            connection.request += chunk[..<count]
        }
        return .whole
    }

    /// - Returns: whether it asked for our path, and is sent on.
    private func answer(_ connection: Connection) -> Bool {
        let line = String(decoding: connection.request.prefix { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
        let isBrowser = ["GET \(path) HTTP/1.1", "GET \(path) HTTP/1.0"].contains(line)
        let head =
            isBrowser
            ? "HTTP/1.1 303 See Other\r\nLocation: \(target.text)\r\nReferrer-Policy: no-referrer\r\n"
            : "HTTP/1.1 404 Not Found\r\n"
        let reply = Array((head + "Cache-Control: no-store\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").utf8)
        // A few kilobytes, which a new connection has room for.
        let sent = unsafe send(connection.descriptor, reply, reply.count, Int32(MSG_NOSIGNAL))
        return isBrowser && sent == reply.count
    }

    /// The port of 127.0.0.1 that `listener` is bound to now; nil if there is none.
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

/// An address that may be handed to a browser.
struct WebLink: Hashable, Sendable {
    let text: String
    /// The host that the browser will show, with its port if it has one.
    let host: String

    /// Nil for anything but an address of the web: a browser takes much else, and acts on it.
    init?(_ text: String) {
        guard let separator = text.firstRange(of: "://"),
            ["https", "http"].contains(text[..<separator.lowerBound].lowercased()),
            text.utf8.allSatisfy({ (0x21..<0x7F).contains($0) })
        else { return nil }
        // RFC 3986 §3.2. What stands before an '@' is there to look like a host, and browsers end the host at a backslash too.
        let authority = text[separator.upperBound...].prefix { !"/?#\\".contains($0) }
        guard !authority.isEmpty, !authority.contains("@"), !text.contains("\\") else { return nil }
        self.text = text
        host = authority.lowercased()
    }
}
