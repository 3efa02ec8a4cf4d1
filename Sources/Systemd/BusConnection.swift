internal import CSystemd
package import Dispatch
internal import Glibc

/// A bus connection on a Dispatch queue. Its descriptor and its time-outs are Dispatch sources (sd_bus_get_fd(3)).
///
/// Everything after `init` happens on the queue.
package final class BusConnection {
    private let handle: BusHandle
    private let queue: DispatchQueue
    private let readable: any DispatchSourceRead
    private let timer: any DispatchSourceTimer
    /// Exists only while the connection has data to send that the socket does not take.
    private var writable: (any DispatchSourceWrite)?
    private let onLost: @Sendable (SystemdError) -> Void
    private var isOver = false

    /// Runs `handle` until `cancel()`, or until the bus is lost; then `onLost` is called once.
    package init(_ handle: BusHandle, queue: DispatchQueue, onLost: @escaping @Sendable (SystemdError) -> Void) {
        self.handle = handle
        self.queue = queue
        self.onLost = onLost
        readable = DispatchSource.makeReadSource(fileDescriptor: handle.descriptor, queue: queue)
        timer = DispatchSource.makeTimerSource(queue: queue)
        readable.setEventHandler { [weak self] in self?.process() }
        timer.setEventHandler { [weak self] in self?.process() }
        // Dispatch may look at the descriptor until the source's cancellation is complete.
        readable.setCancelHandler { [handle] in withExtendedLifetime(handle) {} }
        timer.schedule(deadline: .now())
        readable.activate()
        timer.activate()
    }

    deinit { cancel() }

    /// Ends the connection. It may be called twice, and from a callback of the bus.
    package func cancel() {
        isOver = true
        readable.cancel()
        timer.cancel()
        writable?.cancel()
        writable = nil
    }

    /// Lets libsystemd do all it can do now, then waits for the next event. Call it after something was sent.
    package func process() {
        guard !isOver else { return }
        var result: Int32 = 1
        while result > 0 && !isOver {
            result = unsafe sd_bus_process(handle.bus, nil)
        }
        guard !isOver else { return }
        // A connection that is lost during set-up appears as an error, and later as a closed bus.
        guard result >= 0 else { return lose(errno: -result) }
        guard unsafe sd_bus_is_open(handle.bus) > 0 else { return lose(errno: ECONNRESET) }
        wait()
    }

    private func wait() {
        let events = unsafe sd_bus_get_events(handle.bus)
        guard events >= 0 else { return lose(errno: -events) }
        waitUntilWritable(events & POLLOUT != 0)

        var deadline = UInt64.max
        let result = unsafe sd_bus_get_timeout(handle.bus, &deadline)
        guard result >= 0 else { return lose(errno: -result) }
        // Dispatch's uptime clock is the same as libsystemd's: CLOCK_MONOTONIC. UInt64.max means no time-out.
        let (nanoseconds, isNever) = deadline.multipliedReportingOverflow(by: 1_000)
        timer.schedule(deadline: isNever ? .distantFuture : DispatchTime(uptimeNanoseconds: nanoseconds))
    }

    private func waitUntilWritable(_ isWanted: Bool) {
        guard isWanted != (writable != nil) else { return }
        guard isWanted else {
            writable?.cancel()
            writable = nil
            return
        }
        let source = DispatchSource.makeWriteSource(fileDescriptor: handle.descriptor, queue: queue)
        source.setEventHandler { [weak self] in self?.process() }
        source.setCancelHandler { [handle] in withExtendedLifetime(handle) {} }
        source.activate()
        writable = source
    }

    private func lose(errno: Int32) {
        cancel()
        onLost(.busUnavailable(errno: errno))
    }
}

/// Owns a connection of libsystemd and everything that must live as long. It closes the connection last.
@safe package final class BusHandle {
    package let bus: OpaquePointer
    /// A copy of the connection's descriptor for Dispatch. libsystemd closes its own descriptor when the bus goes away,
    /// and a source must never use a number that may belong to another file by then.
    package let descriptor: Int32
    /// The object to which C has an unretained pointer.
    private let context: AnyObject

    /// Connects to `address`, or to the system bus if it is nil, without waiting for an answer.
    ///
    /// - Parameter isDirect: whether the other end is the peer itself and not a bus.
    /// - Throws: `busUnavailable`.
    package init(address: String?, isDirect: Bool = false, context: AnyObject) throws(SystemdError) {
        var bus: OpaquePointer?
        let result =
            if let address {
                unsafe Self.open(&bus, address: address, isDirect: isDirect)
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

    private static func open(_ bus: inout OpaquePointer?, address: String, isDirect: Bool) -> Int32 {
        var result = unsafe sd_bus_new(&bus)
        guard result >= 0 else { return result }
        result = unsafe sd_bus_set_address(bus, address)
        guard result >= 0 else { return result }
        result = unsafe sd_bus_set_bus_client(bus, isDirect ? 0 : 1)
        guard result >= 0 else { return result }
        return unsafe sd_bus_start(bus)
    }
}

/// A D-Bus message of libsystemd, written or read in order.
///
/// Its content is overwritten when it is freed (sd_bus_message_sensitive(3)), because it may be a key. If there is no
/// memory to write a message, sending it fails. A value that is missing or has another type reads as nil.
@safe package final class BusMessage {
    package let message: OpaquePointer

    /// Takes ownership of one reference.
    package init(_ message: OpaquePointer) {
        unsafe self.message = message
        unsafe sd_bus_message_sensitive(message)
    }

    deinit { unsafe sd_bus_message_unref(message) }

    package enum Container {
        case array, structure, entry, variant

        fileprivate var code: CChar {
            switch self {
            case .array: CChar(SD_BUS_TYPE_ARRAY)
            case .structure: CChar(SD_BUS_TYPE_STRUCT)
            case .entry: CChar(SD_BUS_TYPE_DICT_ENTRY)
            case .variant: CChar(SD_BUS_TYPE_VARIANT)
            }
        }
    }
}

/// Methods that write.
extension BusMessage {
    package func append(_ text: String) {
        append(text, as: SD_BUS_TYPE_STRING)
    }

    package func append(path: String) {
        append(path, as: SD_BUS_TYPE_OBJECT_PATH)
    }

    private func append(_ text: String, as type: some BinaryInteger) {
        _ = unsafe text.withCString { unsafe sd_bus_message_append_basic(message, CChar(type), $0) }
    }

    package func append(_ flag: Bool) {
        var value: Int32 = flag ? 1 : 0
        unsafe sd_bus_message_append_basic(message, CChar(SD_BUS_TYPE_BOOLEAN), &value)
    }

    package func append(byte: UInt8) {
        var value = byte
        unsafe sd_bus_message_append_basic(message, CChar(SD_BUS_TYPE_BYTE), &value)
    }

    package func append(_ number: UInt32) {
        var value = number
        unsafe sd_bus_message_append_basic(message, CChar(SD_BUS_TYPE_UINT32), &value)
    }

    package func append(_ number: Int32) {
        var value = number
        unsafe sd_bus_message_append_basic(message, CChar(SD_BUS_TYPE_INT32), &value)
    }

    package func append(_ number: UInt64) {
        var value = number
        unsafe sd_bus_message_append_basic(message, CChar(SD_BUS_TYPE_UINT64), &value)
    }

    package func append(_ texts: [String]) {
        within(.array, "s") { for text in texts { append(text) } }
    }

    package func append(paths: [String]) {
        within(.array, "o") { for path in paths { append(path: path) } }
    }

    /// Appends a dictionary of texts, `a{ss}`.
    package func append(_ attributes: [String: String]) {
        within(.array, "{ss}") {
            for (key, value) in attributes {
                within(.entry, "ss") {
                    append(key)
                    append(value)
                }
            }
        }
    }

    /// Writes a container of this type; `body` writes its content.
    package func within(_ container: Container, _ contents: String, _ body: () -> Void) {
        unsafe sd_bus_message_open_container(message, container.code, contents)
        body()
        unsafe sd_bus_message_close_container(message)
    }
}

/// Methods that read.
extension BusMessage {
    package func text() -> String? {
        read(SD_BUS_TYPE_STRING)
    }

    package func number() -> UInt32? {
        var value: UInt32 = 0
        return unsafe sd_bus_message_read_basic(message, CChar(SD_BUS_TYPE_UINT32), &value) > 0 ? value : nil
    }

    package func path() -> String? {
        read(SD_BUS_TYPE_OBJECT_PATH)
    }

    private func read(_ type: some BinaryInteger) -> String? {
        var value: UnsafePointer<CChar>?
        guard unsafe sd_bus_message_read_basic(message, CChar(type), &value) > 0, let value = unsafe value else {
            return nil
        }
        return unsafe String(cString: value)
    }

    package func paths() -> [String]? {
        var paths: [String] = []
        let isThere = enter(.array, "o") { while let path = path() { paths.append(path) } }
        return isThere ? paths : nil
    }

    /// Reads a container of this type; `body` reads all of its content.
    ///
    /// - Returns: whether there was one.
    @discardableResult package func enter(_ container: Container, _ contents: String, _ body: () -> Void) -> Bool {
        guard unsafe sd_bus_message_enter_container(message, container.code, contents) > 0 else { return false }
        body()
        return unsafe sd_bus_message_exit_container(message) >= 0
    }
}
