/// Who is at the other end, as the kernel noted when the peer connected (`SO_PEERCRED`).
package struct PeerCredentials: Equatable, Sendable {
    /// The process that connected; it may have ended or handed the connection on since.
    package let pid: Int32
    package let uid: UInt32
    package let gid: UInt32

    package init(pid: Int32, uid: UInt32, gid: UInt32) {
        self.pid = pid
        self.uid = uid
        self.gid = gid
    }
}
