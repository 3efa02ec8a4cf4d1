import Glibc
import Varlink

extension PeerCredentials {
    static var ofThisProcess: PeerCredentials { PeerCredentials(pid: getpid(), uid: getuid(), gid: getgid()) }
}
