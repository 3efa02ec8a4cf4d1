import Dispatch
import Foundation
import Glibc

/// A socket that accepts one peer, sends it `answer` in the given pieces whatever it asks, and closes the connection.
final class ScriptedService: Sendable {
    let path: String
    private let listener: Int32

    /// - Parameters:
    ///   - hangsUp: whether to close the connection after the last piece, or to leave it open and silent.
    ///   - accepts: whether it accepts the peer. If not, two peers have room in its queue.
    init(_ pieces: [[UInt8]], hangsUp: Bool = true, accepts: Bool = true) {
        path = NSTemporaryDirectory() + "varlink-" + UUID().uuidString.prefix(8)
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
        let status = unsafe withUnsafePointer(to: address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(listener, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        precondition(status == 0 && listen(listener, 1) == 0, "the test's socket listens")
        guard accepts else { return }
        DispatchQueue.global().async { [listener] in
            let peer = accept(listener, nil, nil)
            for piece in pieces {
                _ = unsafe piece.withUnsafeBytes { unsafe send(peer, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            }
            if hangsUp {
                shutdown(peer, Int32(SHUT_RDWR))
                close(peer)
            }
        }
    }

    convenience init(_ answer: String, hangsUp: Bool = true) {
        self.init([Array(answer.utf8)], hangsUp: hangsUp)
    }

    /// Accepts a peer on another thread, so that there is room for the next.
    func acceptLater() {
        DispatchQueue.global().async { [listener] in _ = accept(listener, nil, nil) }
    }

    deinit {
        close(listener)
        unsafe unlink(path)
    }
}
