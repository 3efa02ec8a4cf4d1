internal import Glibc

/// An address with a secret in it, on its way to a browser: what the browser is started with leads there once, and to nothing after that.
///
/// A program's arguments are for everybody of this machine to read (proc(5)), for as long as the browser lives. So it gets an address on
/// loopback, and is sent on from there.
struct SecretLink: ~Copyable {
    /// Bytes. A browser's own request is less than one; its cookies for other ports of this host may be some more.
    private static let requestLimit = 32 << 10
    /// Seconds. A connection that a browser makes ahead of its needs says nothing; the next one is waiting behind it.
    private static let requestPatience = 2

    /// What may be seen by anybody.
    let link: WebLink
    /// Has something to read when a browser has come.
    let descriptor: Int32
    private let target: WebLink
    private let port: UInt16
    private let path: String

    private init(_ link: WebLink, to target: WebLink, path: String, descriptor: Int32, port: UInt16) {
        (self.link, self.target, self.path, self.descriptor, self.port) = (link, target, path, descriptor, port)
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
        return SecretLink(link, to: target, path: path, descriptor: listener, port: port)
    }

    deinit {
        close(descriptor)
    }

    /// Answers whoever has come.
    ///
    /// - Returns: whether it was the browser, which is on its way now.
    func serve() -> Bool {
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let connection = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe accept(descriptor, $0, &size) }
        }
        guard connection >= 0 else { return false }
        defer { close(connection) }
        let isBrowser =
            isOwn(peer: UInt16(bigEndian: address.sin_port)) && request(on: connection) == "GET \(path) HTTP/1.1"
        let head =
            isBrowser
            ? "HTTP/1.1 303 See Other\r\nLocation: \(target.text)\r\nReferrer-Policy: no-referrer\r\n"
            : "HTTP/1.1 404 Not Found\r\n"
        _ = FileDescriptor.write(
            head + "Cache-Control: no-store\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            to: connection
        )
        return isBrowser
    }

    /// The first line of what the peer says; nil if it does not say it in time.
    private func request(on connection: Int32) -> String? {
        var patience = timeval(tv_sec: Self.requestPatience, tv_usec: 0)
        unsafe setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        // All of it: a connection that is closed with something unread is reset, and its answer lost.
        while !bytes.suffix(4).elementsEqual("\r\n\r\n".utf8), bytes.count < Self.requestLimit {
            let count = unsafe read(connection, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            bytes += chunk[..<count]
        }
        return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
    }

    /// Whether the other end of a connection to our port is a socket of this user. The path was a secret only until the browser was
    /// started, and other users may be quicker.
    private func isOwn(peer: UInt16) -> Bool {
        let (theirs, ours) = (Self.hexadecimal(peer), Self.hexadecimal(port))
        let owners = Self.contents(of: "/proc/net/tcp").split(separator: "\n").compactMap { line -> Substring? in
            // proc(5): number, local address, remote address, state, queues, timer, retransmissions, uid.
            let fields = line.split(separator: " ")
            guard fields.count > 7, fields[1].hasSuffix(":\(theirs)"), fields[2].hasSuffix(":\(ours)") else {
                return nil
            }
            return fields[7]
        }
        return !owners.isEmpty && owners.allSatisfy { $0 == String(geteuid()) }
    }

    private static func hexadecimal(_ port: UInt16) -> String {
        let digits = String(port, radix: 16, uppercase: true)
        return String(repeating: "0", count: 4 - digits.count) + digits
    }

    private static func contents(of path: String) -> String {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while case let count = unsafe read(file, &chunk, chunk.count), count > 0 { bytes += chunk[..<count] }
        return String(decoding: bytes, as: UTF8.self)
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
