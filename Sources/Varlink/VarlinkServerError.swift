internal import Glibc

/// Why a server cannot listen.
package enum VarlinkServerError: Error, Equatable, Sendable {
    /// Another process answers on the path; it must be ended first.
    case alreadyListening(path: String)
    /// Something that is no socket has the path; it is left alone.
    case notASocket(path: String)
    /// The path does not fit into a socket address, `limit` bytes.
    case pathTooLong(path: String, limit: Int)
    /// Another process is binding a socket in the folder right now; trying again helps.
    case folderBusy(path: String)
    /// The folder cannot be made or opened.
    case cannotMakeFolder(path: String, errno: Int32)
    /// The folder is another user's, or everybody may write in it: they could put a socket of their own in ours' place.
    case folderOpenToOthers(path: String, owner: UInt32)
    case cannotBind(path: String, errno: Int32)
    /// The descriptor that was passed is no listening Unix stream socket.
    case notAListenSocket(descriptor: Int32)
    /// The kernel refused a socket or a thread to serve it.
    case cannotListen(errno: Int32)
    /// The kernel has no descriptor or no memory for a connection; it is tried again.
    case cannotAccept(errno: Int32)
}

extension VarlinkServerError: CustomStringConvertible {
    /// What failed, on what, and why: lower case, no full stop.
    package var description: String {
        switch self {
        case .alreadyListening(let path): "another process listens on '\(path)'"
        case .notASocket(let path): "'\(path)' is no socket, and is left alone"
        case .pathTooLong(let path, let limit):
            "'\(path)' is longer than the \(limit) bytes that a socket's path may have"
        case .folderBusy(let path): "another process is binding a socket in '\(path)' right now"
        case .cannotMakeFolder(let path, let errno): "the folder '\(path)' cannot be used: \(Self.reason(errno))"
        case .folderOpenToOthers(let path, let owner):
            owner == geteuid()
                ? "everybody may write in the folder '\(path)', a socket there is not safe"
                : "the folder '\(path)' is of the user with the uid \(owner), a socket there is not safe"
        case .cannotBind(let path, let errno): "'\(path)' cannot be bound: \(Self.reason(errno))"
        case .notAListenSocket(let descriptor): "descriptor \(descriptor) is no listening Unix stream socket"
        case .cannotAccept(let errno): "no connection can be taken: \(Self.reason(errno))"
        case .cannotListen(let errno): "the kernel gives no socket: \(Self.reason(errno))"
        }
    }

    private static func reason(_ errno: Int32) -> String {
        // strerror itself is not safe between threads.
        var text = [CChar](repeating: 0, count: 128)
        guard unsafe strerror_r(errno, &text, text.count) == 0 else { return "error \(errno)" }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
