/// Why the listener for a browser's answer could not be opened.
package enum RedirectListenerError: Error, Hashable, Sendable {
    /// Another program listens on the port.
    case portTaken(Int)
    /// The port cannot be used: `EACCES` below 1024.
    case cannotListen(port: Int, errno: Int32)

    /// Lower case, no full stop.
    package var reason: String {
        switch self {
        case .portTaken(let port): "another program listens on port \(port) of this machine"
        case .cannotListen(let port, let errno): "port \(port) of this machine is unavailable (error \(errno))"
        }
    }
}
