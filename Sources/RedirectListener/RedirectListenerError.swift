/// Why there is nobody to send a browser to.
package enum RedirectListenerError: Error, Hashable, Sendable {
    /// Another program listens on the port.
    case portTaken(Int)
    /// The port cannot be had: `EACCES` below 1024.
    case cannotListen(port: Int, errno: Int32)
}

extension RedirectListenerError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .portTaken(let port): "another program listens on port \(port) of this machine"
        case .cannotListen(let port, let errno): "the port \(port) of this machine cannot be had (error \(errno))"
        }
    }
}
