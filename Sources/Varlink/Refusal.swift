/// Why the server itself ended a connection, or answered in the service's place.
package enum Refusal: Hashable, Sendable {
    /// The peer runs as a user who may not call.
    case peerNotAllowed(uid: UInt32)
    /// The kernel did not say who the peer is.
    case peerUnknown
    /// All connections are taken; `limit` is their number.
    case tooManyConnections(limit: Int)
    /// This user's connections are all taken; `limit` is their number.
    case tooManyConnectionsOfUser(limit: Int)
    /// A call is longer than `limit` bytes.
    case messageTooLong(limit: Int)
    /// The bytes before a NUL are no Varlink call.
    case messageMalformed
    /// The rest of a call did not come in time, or the peer closed its side in the middle of one.
    case messageIncomplete
    /// The peer's process does not finish its calls; more than `limit` bytes would wait for their rest on all its connections together.
    case processFinishesTooLittle(limit: Int)
    /// All processes together would have more than `limit` bytes of unfinished calls, and the peer's has the most.
    case processFinishesLeast(limit: Int)
    /// The peer does not read its replies; more than `limit` bytes would wait.
    case repliesNotRead(limit: Int)
    /// The peer's process does not read its replies; more than `limit` bytes would wait on all its connections together.
    case processReadsTooLittle(limit: Int)
    /// All processes together would have more than `limit` bytes to read, and the peer's has the most.
    case processReadsLeast(limit: Int)

    /// The reply that says so, in the words of `org.varlink.service`.
    ///
    /// That interface has no errors for limits, so the parameter's name carries the cause; a service with better names of
    /// its own replaces them with `VarlinkService.refusalError`.
    package var standardError: VarlinkError {
        switch self {
        case .peerNotAllowed, .peerUnknown: .permissionDenied
        case .tooManyConnections(let limit): .invalidParameter("connection: all \(limit) are taken")
        case .tooManyConnectionsOfUser(let limit): .invalidParameter("connection: all \(limit) of this user are taken")
        case .messageTooLong(let limit): .invalidParameter("message: longer than \(limit) bytes")
        case .messageMalformed: .invalidParameter("message: not a Varlink call")
        case .messageIncomplete: .invalidParameter("message: incomplete")
        case .processFinishesTooLittle(let limit):
            .invalidParameter("message: more than \(limit) bytes unfinished by the process")
        case .processFinishesLeast(let limit):
            .invalidParameter("message: more than \(limit) bytes unfinished by all, most by the process")
        case .repliesNotRead(let limit): .invalidParameter("replies: more than \(limit) bytes unread")
        case .processReadsTooLittle(let limit):
            .invalidParameter("replies: more than \(limit) bytes unread by the process")
        case .processReadsLeast(let limit):
            .invalidParameter("replies: more than \(limit) bytes unread by all, most by the process")
        }
    }
}
