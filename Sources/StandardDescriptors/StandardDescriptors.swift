internal import Glibc

/// Standard input, output and error.
package enum StandardDescriptors {
    /// Fills the places of those that are closed, before a socket or a file gets their number and is then read or written as one
    /// of them.
    ///
    /// They are filled with `/dev/null`, opened for the wrong direction: reading and writing still fail with `EBADF`, as they do
    /// where nothing is open. To be called before anything is opened.
    package static func fillGaps() {
        var places = [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO].map { pollfd(fd: $0, events: 0, revents: 0) }
        guard unsafe poll(&places, nfds_t(places.count), 0) > 0 else { return }
        for place in places where place.revents & Int16(POLLNVAL) != 0 {
            // The kernel gives the lowest number that is free.
            _ = unsafe open("/dev/null", place.fd == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}
