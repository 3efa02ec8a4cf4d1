internal import Glibc
internal import NIOCore

/// The two questions we ask the kernel about an accepted connection.
extension PeerCredentials {
    /// Asks who is at the other end of `channel`, and keeps its descriptor from programs we start.
    ///
    /// NIO accepts without `SOCK_CLOEXEC`. Nil if the kernel does not answer.
    init?(of channel: any Channel) {
        let credentials = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable {
            (descriptor: NIOBSDSocket.Handle) -> [UInt32]? in
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            // struct ucred of unix(7), which Glibc's module map hides: pid, uid, gid, 32 bits each.
            var words: [UInt32] = [0, 0, 0]
            var length = socklen_t(words.count * MemoryLayout<UInt32>.size)
            let status = unsafe getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &words, &length)
            return status == 0 ? words : nil
        }
        guard let credentials = credentials ?? nil else { return nil }
        self.init(pid: Int32(bitPattern: credentials[0]), uid: credentials[1], gid: credentials[2])
    }
}
