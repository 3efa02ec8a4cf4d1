internal import Glibc

/// Standard input, output and error.
package enum StandardDescriptors {
    /// Fills closed standard descriptors. Otherwise a socket or a file would get their number, and be read or written
    /// as a standard stream.
    ///
    /// They get `/dev/null`, opened for the wrong direction, so that reading and writing still fail with `EBADF`, as on
    /// a closed descriptor. Call it before anything is opened.
    package static func fillGaps() {
        for place in STDIN_FILENO...STDERR_FILENO where fcntl(place, F_GETFD) < 0 {
            // The kernel assigns the lowest free number.
            _ = unsafe open("/dev/null", place == STDIN_FILENO ? O_WRONLY : O_RDONLY)
        }
    }
}
