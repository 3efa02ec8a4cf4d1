internal import Glibc
package import TextEncodings

/// A blocking connection to a Varlink service. It closes when it goes out of scope.
///
/// It makes one call at a time, uses no threads, and needs five system calls for a connection with one call.
package struct VarlinkConnection: ~Copyable {
    /// A reply of the service.
    package struct Reply: Sendable {
        /// An object: the reply's parameters, or the error's.
        package let parameters: JSONValue
        /// The full name of the error; nil for success.
        package let error: String?
        /// Whether more replies to the same call follow.
        package let continues: Bool
    }

    /// How many replies a call wants.
    package enum ReplyMode: Sendable {
        case one
        /// Any number of replies, until one without `continues` or an error.
        case more
        /// No reply.
        case oneway
    }

    /// The most bytes of one reply, enough to list about ten thousand accounts at once.
    package static let replyBytesMax = 16 << 20

    /// How long a connection may take, in milliseconds, unless the caller says. It is generous because the first
    /// connection may start the service.
    package static let connectingMilliseconds: Int32 = 30_000

    private let descriptor: Int32
    private let replyBytesMax: Int
    /// Bytes received and not returned yet.
    private var received: ArraySlice<UInt8> = []
    /// How many of these bytes were already searched for the end of a message.
    private var searched = 0

    /// Connects.
    ///
    /// - Parameter timeoutMilliseconds: how long to wait for room in the queue of a service that accepts nobody.
    /// - Throws: the cases of connecting; `timedOut`.
    package init(
        path: String,
        replyBytesMax: Int = Self.replyBytesMax,
        timeoutMilliseconds: Int32 = Self.connectingMilliseconds
    ) throws(VarlinkClientError) {
        descriptor = try UnixStream.connect(to: path, until: Deadline(milliseconds: timeoutMilliseconds))
        self.replyBytesMax = replyBytesMax
    }

    deinit { close(descriptor) }

    /// Calls `method` and waits for its reply.
    ///
    /// - Parameters:
    ///   - method: the full name: `io.example.Interface.Method`.
    ///   - parameters: a JSON object.
    ///   - timeoutMilliseconds: the time limit for the whole call; nil waits as long as the connection is open.
    /// - Throws: any case except those of connecting. After that, the connection cannot be used.
    package mutating func call(
        _ method: String,
        parameters: String = "{}",
        timeoutMilliseconds: Int32? = nil
    ) throws(VarlinkClientError) -> Reply {
        let deadline = timeoutMilliseconds.map(Deadline.init(milliseconds:))
        try send(method, parameters: parameters, mode: .one, until: deadline)
        return try receive(until: deadline)
    }

    /// Calls `method` for several replies and passes each to `body`, until the last one or until `body` returns false.
    /// After that, the connection cannot be used for other calls.
    ///
    /// - Parameter timeoutMilliseconds: the time limit for sending the call, and for each reply.
    package mutating func callMore(
        _ method: String,
        parameters: String = "{}",
        timeoutMilliseconds: Int32? = nil,
        _ body: (Reply) -> Bool
    ) throws(VarlinkClientError) {
        try send(method, parameters: parameters, mode: .more, timeoutMilliseconds: timeoutMilliseconds)
        var reply = try receive(timeoutMilliseconds: timeoutMilliseconds)
        while body(reply), reply.continues {
            reply = try receive(timeoutMilliseconds: timeoutMilliseconds)
        }
    }

    /// Sends a call; `receive` returns its replies.
    ///
    /// - Parameter timeoutMilliseconds: how long a service that does not read may delay it; nil waits as long as the
    ///   connection is open.
    package mutating func send(
        _ method: String,
        parameters: String,
        mode: ReplyMode,
        timeoutMilliseconds: Int32? = nil
    ) throws(VarlinkClientError) {
        let deadline = timeoutMilliseconds.map(Deadline.init(milliseconds:))
        try send(method, parameters: parameters, mode: mode, until: deadline)
    }

    private mutating func send(
        _ method: String,
        parameters: String,
        mode: ReplyMode,
        until deadline: Deadline?
    ) throws(VarlinkClientError) {
        let flag =
            switch mode {
            case .one: ""
            case .more: ",\"more\":true"
            case .oneway: ",\"oneway\":true"
            }
        let parts = ["{\"method\":", JSONText.quote(method), ",\"parameters\":", parameters, flag, "}\0"]
        var length = 0
        for part in parts { length += part.utf8.count }
        // The array is allocated in one piece, because the Swift runtime would have to build the type of an array that
        // grows.
        let message = unsafe [UInt8](unsafeUninitializedCapacity: length) { place, filled in
            for part in parts {
                for byte in part.utf8 {
                    unsafe place.initializeElement(at: filled, to: byte)
                    filled += 1
                }
            }
        }
        do throws(VarlinkClientError) {
            try UnixStream.write(message, to: descriptor, until: deadline)
        } catch .connectionClosed where mode != .oneway {
            // A server that refuses us sends the reason and closes, perhaps before we have written. Its reply is worth
            // reading.
        }
    }

    /// The descriptor to watch with poll(2) for replies that `receiveAvailable` returns.
    package var pollDescriptor: Int32 { descriptor }

    /// Waits for the next reply.
    package mutating func receive(timeoutMilliseconds: Int32? = nil) throws(VarlinkClientError) -> Reply {
        try receive(until: timeoutMilliseconds.map(Deadline.init(milliseconds:)))
    }

    private mutating func receive(until deadline: Deadline?) throws(VarlinkClientError) -> Reply {
        while true {
            if let reply = try takeReply() { return reply }
            append(try UnixStream.read(from: descriptor, until: deadline))
        }
    }

    /// The next reply; nil if it has not arrived completely. Does not wait.
    package mutating func receiveAvailable() throws(VarlinkClientError) -> Reply? {
        while true {
            if let reply = try takeReply() { return reply }
            guard let bytes = try UnixStream.readAvailable(from: descriptor) else { return nil }
            append(bytes)
        }
    }

    private mutating func append(_ bytes: [UInt8]) {
        if received.isEmpty {
            received = bytes[...]
        } else {
            received.append(contentsOf: bytes)
        }
    }

    /// The first complete message received; nil if there is none.
    private mutating func takeReply() throws(VarlinkClientError) -> Reply? {
        guard let end = received.dropFirst(searched).firstIndex(of: 0) else {
            searched = received.count
            guard searched <= replyBytesMax else { throw .replyTooLarge(limit: replyBytesMax) }
            return nil
        }
        let message = received[..<end]
        guard message.count <= replyBytesMax else { throw .replyTooLarge(limit: replyBytesMax) }
        received = received[(end + 1)...]
        searched = 0
        return try Self.parse(message)
    }

    static func parse(_ message: ArraySlice<UInt8>) throws(VarlinkClientError) -> Reply {
        guard let reply = JSONValue(message), reply.isObject else { throw .malformedReply }
        var error: String?
        if let name = reply["error"], !name.isNull {
            error = name.string
            guard error != nil else { throw .malformedReply }
        }
        var parameters = reply["parameters"]
        if parameters?.isNull ?? true { parameters = JSONValue("{}") }
        guard let parameters, parameters.isObject else { throw .malformedReply }
        return Reply(parameters: parameters, error: error, continues: reply["continues"]?.bool ?? false)
    }
}

/// Why a call got no reply. An error *reply* is not one of these, because the service has answered.
package enum VarlinkClientError: Error, Equatable, Sendable {
    /// Nobody answers on the path. There is no socket (`ENOENT`), or nobody listens on it (`ECONNREFUSED`).
    case notRunning(path: String, errno: Int32)
    /// We may not open the socket, or a folder above it.
    case permissionDenied(path: String)
    /// The path is empty or contains a NUL. The kernel would take it for an abstract name, or read only its beginning.
    case unusablePath(path: String)
    /// The listener is the user `uid`, who is neither us nor root. Our calls are not for them.
    case otherUser(path: String, uid: UInt32)
    /// The path does not fit into a socket address, `limit` bytes.
    case pathTooLong(path: String, limit: Int)
    /// The kernel refused for another reason: no descriptors or no memory.
    case cannotConnect(path: String, errno: Int32)
    /// The service did not take the call, or did not send a complete reply in time. The connection can no longer be used.
    case timedOut
    /// The service closed the connection before its reply was complete.
    case connectionClosed
    /// The message received is not a Varlink reply.
    case malformedReply
    /// The reply does not follow the interface.
    case unreadableReply
    /// The reply is longer than `limit` bytes.
    case replyTooLarge(limit: Int)
}

/// The client's system calls. Each is repeated if a signal interrupts it. None waits for the service except poll(2), so
/// that a time limit holds for all of them.
enum UnixStream {
    /// The most bytes per read. A token reply fits, and a long list takes few reads.
    private static let readBytes = 16 << 10

    /// Connects to the socket at `path`.
    ///
    /// - Throws: the cases of connecting; `timedOut`.
    static func connect(to path: String, until deadline: Deadline) throws(VarlinkClientError) -> Int32 {
        guard !path.isEmpty, !path.utf8.contains(0) else { throw .unusablePath(path: path) }
        var address = sockaddr_un()
        let pathBytesMax = MemoryLayout.size(ofValue: address.sun_path) - 1
        guard path.utf8.count <= pathBytesMax else { throw .pathTooLong(path: path, limit: pathBytesMax) }
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        // unix(7): the size is the family, the path and its NUL.
        let addressBytes = MemoryLayout<sockaddr_un>.size - pathBytesMax + path.utf8.count

        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { throw .cannotConnect(path: path, errno: errno) }
        let failure = unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe connect(descriptor, generic, socklen_t(addressBytes), until: deadline)
            }
        }
        do throws(VarlinkClientError) {
            guard failure == 0 else { throw error(failure, path) }
            try checkOwner(of: descriptor, path)
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// Connects; returns 0 or the error number, which is EAGAIN if the time was over.
    private static func connect(
        _ descriptor: Int32,
        _ address: UnsafePointer<sockaddr>,
        _ length: socklen_t,
        until deadline: Deadline
    ) -> Int32 {
        let failure = -retried { unsafe Int(Glibc.connect(descriptor, address, length)) }
        guard failure == EAGAIN else { return Int32(failure) }
        // connect(2): the queue of the listener is full, because the service does not accept. poll(2) cannot wait for
        // room in it, but a blocking socket can, for as long as it may send (socket(7)).
        _ = fcntl(descriptor, F_SETFL, 0)
        while case let rest = deadline.remainingMilliseconds, rest > 0 {
            var limit = timeval(tv_sec: Int(rest / 1000), tv_usec: Int(rest % 1000) * 1000)
            let size = socklen_t(MemoryLayout<timeval>.size)
            unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
            if unsafe Glibc.connect(descriptor, address, length) == 0 { return 0 }
            guard errno == EINTR else { return errno }
        }
        return EAGAIN
    }

    private static func error(_ failure: Int32, _ path: String) -> VarlinkClientError {
        switch failure {
        case ENOENT, ECONNREFUSED, ENOTDIR: .notRunning(path: path, errno: failure)
        case EACCES, EPERM: .permissionDenied(path: path)
        case EAGAIN: .timedOut
        default: .cannotConnect(path: path, errno: failure)
        }
    }

    /// Refuses a listener of another user. If others can write to the path, or if the path was mistyped, they must not
    /// get our secrets.
    ///
    /// The kernel says who began to listen. With socket activation, that is the user's own service manager.
    private static func checkOwner(of descriptor: Int32, _ path: String) throws(VarlinkClientError) {
        // struct ucred, which glibc declares only for C programs.
        var peer: (pid: UInt32, uid: UInt32, gid: UInt32) = (0, 0, 0)
        var length = socklen_t(MemoryLayout.size(ofValue: peer))
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0 else {
            throw .cannotConnect(path: path, errno: errno)
        }
        guard peer.uid == geteuid() || peer.uid == 0 else { throw .otherUser(path: path, uid: peer.uid) }
    }

    static func write(
        _ bytes: [UInt8],
        to descriptor: Int32,
        until deadline: Deadline?
    ) throws(VarlinkClientError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = retried {
                unsafe rest.withUnsafeBytes { buffer in
                    let flags = Int32(MSG_NOSIGNAL | MSG_DONTWAIT)
                    return unsafe Glibc.send(descriptor, buffer.baseAddress, buffer.count, flags)
                }
            }
            if written == -Int(EAGAIN) {
                try wait(for: POLLOUT, on: descriptor, until: deadline)
                continue
            }
            guard written > 0 else { throw .connectionClosed }
            rest = rest.dropFirst(written)
        }
    }

    /// Waits until `deadline` and reads at least one byte.
    static func read(from descriptor: Int32, until deadline: Deadline?) throws(VarlinkClientError) -> [UInt8] {
        while true {
            try wait(for: POLLIN, on: descriptor, until: deadline)
            if let bytes = try readAvailable(from: descriptor) { return bytes }
        }
    }

    /// Reads what has arrived; nil if there is nothing.
    static func readAvailable(from descriptor: Int32) throws(VarlinkClientError) -> [UInt8]? {
        var count = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: readBytes) { buffer, initializedCount in
            count = retried { unsafe recv(descriptor, buffer.baseAddress, readBytes, Int32(MSG_DONTWAIT)) }
            initializedCount = max(0, count)
        }
        if count == -Int(EAGAIN) { return nil }
        guard count > 0 else { throw .connectionClosed }
        return bytes
    }

    /// - Throws: `timedOut`.
    private static func wait(
        for event: Int32,
        on descriptor: Int32,
        until deadline: Deadline?
    ) throws(VarlinkClientError) {
        while true {
            var interest = pollfd(fd: descriptor, events: Int16(event), revents: 0)
            let ready = unsafe poll(&interest, 1, deadline?.remainingMilliseconds ?? -1)
            if ready > 0 { return }
            guard ready < 0, errno == EINTR else { throw .timedOut }
        }
    }

    /// Makes a system call until no signal interrupts it; returns its result, or the negative error number.
    private static func retried(_ systemCall: () -> Int) -> Int {
        while true {
            let result = systemCall()
            guard result < 0 else { return result }
            let failure = errno
            guard failure == EINTR else { return -Int(failure) }
        }
    }
}

/// A point on the monotonic clock.
struct Deadline {
    private let milliseconds: Int64

    init(milliseconds fromNow: Int32) {
        milliseconds = Self.now + Int64(fromNow)
    }

    /// The timeout for poll(2); 0 once the deadline has passed.
    var remainingMilliseconds: Int32 { Int32(max(0, milliseconds - Self.now)) }

    private static var now: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
