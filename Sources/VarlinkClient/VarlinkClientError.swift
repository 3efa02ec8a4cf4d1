/// Why a call got no reply. An error *reply* is none of these: the service has answered.
package enum VarlinkClientError: Error, Equatable, Sendable {
    /// Nobody answers on the path: there is no socket (`ENOENT`), or nobody listens on it (`ECONNREFUSED`).
    case notRunning(path: String, errno: Int32)
    /// We may not open the socket or reach it through its folders.
    case permissionDenied(path: String)
    /// The path is empty or has a NUL in it: the kernel would take it for a name in the abstract namespace, or for its beginning.
    case unusablePath(path: String)
    /// The user `uid` listens there, who is neither ours nor root: what we ask is none of theirs.
    case otherUser(path: String, uid: UInt32)
    /// The path does not fit into a socket address, `limit` bytes.
    case pathTooLong(path: String, limit: Int)
    /// The kernel refused for another reason: no descriptor left, no memory.
    case cannotConnect(path: String, errno: Int32)
    /// No complete reply came in the time given. The connection cannot be used any further.
    case timedOut
    /// The service closed the connection before its reply was complete.
    case connectionClosed
    /// What came is no Varlink reply.
    case malformedReply
    /// The reply is longer than `limit` bytes.
    case replyTooLarge(limit: Int)
}
