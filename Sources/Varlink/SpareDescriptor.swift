internal import Glibc

/// A file descriptor that is kept for the day when there is none left: whoever wants to know what is wrong then can be let in by it.
struct SpareDescriptor: ~Copyable {
    private var descriptor: Int32 = -1

    init() {
        take()
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Takes one, if there is one and none is held.
    mutating func take() {
        guard descriptor < 0 else { return }
        descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
    }

    /// Gives it away to whoever asks next.
    mutating func give() {
        guard descriptor >= 0 else { return }
        close(descriptor)
        descriptor = -1
    }

    /// Whether it is held, and there would be another beside it.
    var isOneOfSeveral: Bool {
        guard descriptor >= 0 else { return false }
        let other = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard other >= 0 else { return false }
        close(other)
        return true
    }
}
