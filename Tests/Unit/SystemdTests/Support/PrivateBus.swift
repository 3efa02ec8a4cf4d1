import CSystemd
import Glibc

/// A D-Bus daemon for the test, with a stand-in for logind.
@safe final class PrivateBus {
    let address: String
    private let directory: TemporaryDirectory
    private let daemon: ChildProcess
    private var logind: OpaquePointer?

    /// - Throws: `TestFault`, also if there is no dbus-daemon; check `isAvailable` first.
    init() throws {
        directory = try TemporaryDirectory()
        address = "unix:path=\(directory.path)/bus"
        let configuration = """
            <busconfig><listen>\(address)</listen><auth>EXTERNAL</auth><policy context="default">
            <allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy></busconfig>
            """
        let file = unsafe fopen("\(directory.path)/bus.conf", "w")
        unsafe fputs(configuration, file)
        unsafe fclose(file)
        // It complains about limits that it cannot raise, which does not help a reader of the tests' output.
        let command = "exec dbus-daemon --config-file=\(directory.path)/bus.conf --nofork --nopidfile --print-address=1"
        daemon = try .start(["sh", "-c", "\(command) 2>/dev/null"])
        // The address is printed when it listens.
        guard daemon.readLine().hasPrefix("unix:") else { throw TestFault.timedOut("dbus-daemon") }
        unsafe sd_bus_new(&logind)
        unsafe sd_bus_set_address(logind, address)
        unsafe sd_bus_set_bus_client(logind, 1)
        unsafe sd_bus_start(logind)
        let result = unsafe sd_bus_request_name(logind, "org.freedesktop.login1", 0)
        guard result >= 0 else { throw TestFault.system("sd_bus_request_name", errno: -result) }
    }

    deinit {
        unsafe sd_bus_close_unref(logind)
        daemon.kill()
    }

    static var isAvailable: Bool {
        (try? ChildProcess.run("sh", "-c", "command -v dbus-daemon busctl")) != nil
    }

    /// Kills the bus.
    func end() {
        _ = Glibc.kill(daemon.pid, SIGKILL)
    }

    /// Asks the bus, at most a thousand times, until it holds a subscription to `PrepareForSleep`.
    func waitForSubscription() throws {
        for _ in 0..<1000 {
            let rules = try ChildProcess.run(
                "busctl",
                "--address=\(address)",
                "call",
                "org.freedesktop.DBus",
                "/org/freedesktop/DBus",
                "org.freedesktop.DBus.Debug.Stats",
                "GetAllMatchRules"
            )
            if rules.contains("PrepareForSleep") { return }
        }
        throw TestFault.timedOut("subscription")
    }

    /// Emits `PrepareForSleep(isStarting)` in the name of logind.
    func emitPrepareForSleep(_ isStarting: Bool) {
        var message: OpaquePointer?
        var argument: Int32 = isStarting ? 1 : 0
        unsafe sd_bus_message_new_signal(
            logind,
            &message,
            "/org/freedesktop/login1",
            "org.freedesktop.login1.Manager",
            "PrepareForSleep"
        )
        unsafe sd_bus_message_append_basic(message, CChar(SD_BUS_TYPE_BOOLEAN), &argument)
        unsafe sd_bus_send(logind, message, nil)
        unsafe sd_bus_flush(logind)
        unsafe sd_bus_message_unref(message)
    }

    /// A delay lock that the stand-in has given.
    final class Lock {
        /// The arguments of the request: what, who, why, mode.
        let words: [String]
        private let reading: Int32

        fileprivate init(words: [String], reading: Int32) {
            self.words = words
            self.reading = reading
        }

        deinit { close(reading) }

        /// Whether nobody holds the other end any more.
        func isGivenBack() -> Bool {
            isGivenBack(within: 0)
        }

        /// Waits until it is released. The bus and programs that are just being started may hold copies a little longer
        /// than the watch.
        func waitUntilGivenBack() throws {
            guard isGivenBack(within: 120_000) else { throw TestFault.timedOut("the lock") }
        }

        /// - Parameter limit: in milliseconds.
        private func isGivenBack(within limit: Int32) -> Bool {
            var interest = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
            return unsafe poll(&interest, 1, limit) > 0 && interest.revents & Int16(POLLHUP) != 0
        }
    }

    /// Waits for a call of `Inhibit`, and gives a lock.
    func giveLock() throws -> Lock {
        let call = try unsafe nextCall()
        defer { unsafe sd_bus_message_unref(call) }
        var words: [String] = []
        var word: UnsafePointer<CChar>?
        while unsafe sd_bus_message_read_basic(call, CChar(SD_BUS_TYPE_STRING), &word) > 0, let text = unsafe word {
            words.append(unsafe String(cString: text))
        }
        var ends: [Int32] = [0, 0]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else {
            throw TestFault.system("socketpair", errno: errno)
        }
        defer { close(ends[1]) }
        var answer: OpaquePointer?
        unsafe sd_bus_message_new_method_return(call, &answer)
        unsafe sd_bus_message_append_basic(answer, CChar(SD_BUS_TYPE_UNIX_FD), &ends[1])
        unsafe sd_bus_send(logind, answer, nil)
        unsafe sd_bus_flush(logind)
        unsafe sd_bus_message_unref(answer)
        return Lock(words: words, reading: ends[0])
    }

    /// Waits for a call of `Inhibit`, and refuses it with the error of this name.
    func refuseLock(_ name: String) throws {
        let call = try unsafe nextCall()
        var error = unsafe sd_bus_error()
        unsafe sd_bus_error_set(&error, name, "not here")
        unsafe sd_bus_reply_method_error(call, &error)
        unsafe sd_bus_error_free(&error)
        unsafe sd_bus_flush(logind)
        unsafe sd_bus_message_unref(call)
    }

    /// Whether no call has come.
    func hasNoCall() -> Bool {
        unsafe (try? nextCall(within: 0)) == nil
    }

    /// - Parameter limit: in microseconds.
    private func nextCall(within limit: UInt64 = 120_000_000) throws -> OpaquePointer {
        while true {
            var message: OpaquePointer?
            while unsafe sd_bus_process(logind, &message) > 0 {
                guard let call = unsafe message else { continue }
                if unsafe sd_bus_message_is_method_call(call, "org.freedesktop.login1.Manager", "Inhibit") > 0 {
                    return unsafe call
                }
                unsafe sd_bus_message_unref(call)
            }
            guard unsafe sd_bus_wait(logind, limit) > 0 else { throw TestFault.timedOut("a call of Inhibit") }
        }
    }
}
