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
    case cannotBind(path: String, errno: Int32)
    /// The descriptor that was passed is no listening Unix stream socket.
    case notAListenSocket(descriptor: Int32)
    /// The kernel refused a socket or the event loop refused to take it.
    case cannotListen(errno: Int32)
}
