internal import CLinux
package import Dispatch
internal import Glibc

/// Reports that a file system was mounted or unmounted, as far as this process sees it.
package final class MountWatch {
    private let source: any DispatchSourceRead

    /// Starts the watch; returns nil if the kernel does not offer it.
    ///
    /// - Parameter onChange: called on `queue`.
    package init?(queue: DispatchQueue, onChange: @escaping @Sendable () -> Void) {
        // proc_pid_mounts(5): after a change, poll reports the file as having priority data. It is always readable, so
        // Dispatch, which waits for that only, gets an epoll instance that waits for the rest.
        let table = unsafe open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC)
        guard table >= 0 else { return nil }
        let changes = epoll_create1(Int32(EPOLL_CLOEXEC))
        var wanted = unsafe epoll_event(events: EPOLLPRI.rawValue, data: epoll_data(u64: 0))
        guard changes >= 0, unsafe epoll_ctl(changes, EPOLL_CTL_ADD, table, &wanted) == 0 else {
            if changes >= 0 { close(changes) }
            close(table)
            return nil
        }
        // The changes of the past do not count.
        Self.drain(changes)
        source = DispatchSource.makeReadSource(fileDescriptor: changes, queue: queue)
        source.setEventHandler {
            Self.drain(changes)
            onChange()
        }
        source.setCancelHandler {
            close(changes)
            close(table)
        }
        source.activate()
    }

    deinit { source.cancel() }

    private static func drain(_ changes: Int32) {
        var event = unsafe epoll_event()
        while unsafe epoll_wait(changes, &event, 1, 0) > 0 {}
    }
}
