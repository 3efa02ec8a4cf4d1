import Glibc
import Systemd

// Prints the result of `ListenSocket.received` for the environment and the descriptors with which this program was started.
// Passed sockets begin at descriptor 3, which a test's own process needs for Dispatch.
do throws(SystemdError) {
    for socket in try ListenSocket.received() {
        let isClosedOnExec = fcntl(socket.descriptor, F_GETFD) & FD_CLOEXEC != 0
        print(socket.descriptor, socket.name, isClosedOnExec ? "close-on-exec" : "inherited")
    }
    print("LISTEN_FDS is", unsafe getenv("LISTEN_FDS") == nil ? "gone" : "kept")
} catch {
    print(error)
}
