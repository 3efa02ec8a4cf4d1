import CSystemd
import Glibc

/// A D-Bus daemon of our own, and on it a stand-in for logind.
@safe final class PrivateBus {
    let address: String
    private let directory: TemporaryDirectory
    private let daemon: ChildProcess
    private var logind: OpaquePointer?

    /// - Throws: `TestFault` also when there is no dbus-daemon; ask `isAvailable` first.
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
        // It complains of limits that it cannot raise, which is of no use to a reader of the tests' output.
        let command = "exec dbus-daemon --config-file=\(directory.path)/bus.conf --nofork --nopidfile --print-address=1"
        daemon = try .start(["sh", "-c", "\(command) 2>/dev/null"])
        // Printed once it listens.
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

    /// Emits `PrepareForSleep(isStarting)` in logind's name.
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
}
