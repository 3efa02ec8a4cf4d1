internal import CSystemd
internal import Glibc

/// A connection of libsystemd's and all that must live as long: its close is the last thing that happens to it.
@safe package final class BusHandle {
    package let bus: OpaquePointer
    /// A copy of the connection's descriptor for Dispatch: libsystemd closes its own when the bus goes away, and a source
    /// must never look at a number that may have become another file's.
    package let descriptor: Int32
    /// What C holds an unretained pointer to.
    private let context: AnyObject

    /// Connects to `address`, nil meaning the system bus; no answer is waited for.
    ///
    /// - Throws: `busUnavailable`.
    package init(address: String?, context: AnyObject) throws(SystemdError) {
        var bus: OpaquePointer?
        let result =
            if let address {
                unsafe Self.open(&bus, address: address)
            } else {
                unsafe sd_bus_open_system(&bus)
            }
        guard result >= 0, let bus = unsafe bus else {
            unsafe sd_bus_unref(bus)
            throw .busUnavailable(errno: -result)
        }
        let descriptor = unsafe fcntl(sd_bus_get_fd(bus), F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else {
            let cause = errno
            unsafe sd_bus_close_unref(bus)
            throw .busUnavailable(errno: cause)
        }
        unsafe self.bus = bus
        self.descriptor = descriptor
        self.context = context
    }

    deinit {
        unsafe sd_bus_close_unref(bus)
        close(descriptor)
    }

    private static func open(_ bus: inout OpaquePointer?, address: String) -> Int32 {
        var result = unsafe sd_bus_new(&bus)
        guard result >= 0 else { return result }
        result = unsafe sd_bus_set_address(bus, address)
        guard result >= 0 else { return result }
        result = unsafe sd_bus_set_bus_client(bus, 1)
        guard result >= 0 else { return result }
        return unsafe sd_bus_start(bus)
    }
}
