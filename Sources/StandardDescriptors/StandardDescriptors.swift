internal import Glibc

/// Standard input, output and error.
package enum StandardDescriptors {
    /// Fills the places of those that are closed, before a socket or a file gets their number and is then read or written as one
    /// of them.
    ///
    /// They are filled with `/dev/null`, opened for the wrong direction: reading and writing still fail with `EBADF`, as they do
    /// where nothing is open. To be called before anything is opened.
    package static func fillGaps() {
        for place in STDIN_FILENO...STDERR_FILENO where fcntl(place, F_GETFD) < 0 {
            // The kernel gives the lowest number that is free.
            _ = unsafe open("/dev/null", place == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}
