import Glibc
import Systemd
import Testing

// The environment belongs to the whole process, so each test that sets it runs in a process of its own.
@Suite struct ServiceNotifierTests {
    @Test func `each call sends the assignments of sd_notify`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let manager = try UnixSocket(SOCK_DGRAM, at: "\(directory.path)/notify")
            unsafe setenv("NOTIFY_SOCKET", "\(directory.path)/notify", 1)
            let notifier = ServiceNotifier.fromEnvironment()
            #expect(notifier.isConnected)

            notifier.ready(status: "3 accounts, next refresh in 5 min")
            #expect(manager.receivedText() == "READY=1\nSTATUS=3 accounts, next refresh in 5 min")
            notifier.status("3 accounts, 1 needs you")
            #expect(manager.receivedText() == "STATUS=3 accounts, 1 needs you")
            notifier.stopping()
            #expect(manager.receivedText() == "STOPPING=1")
            notifier.watchdog()
            #expect(manager.receivedText() == "WATCHDOG=1")
            notifier.extendTimeout(by: .seconds(30))
            #expect(manager.receivedText() == "EXTEND_TIMEOUT_USEC=30000000")
            #expect(manager.receivedText() == nil)
            #expect(unsafe getenv("NOTIFY_SOCKET") != nil, "the environment is left alone")
        }
    }

    @Test func `a reload carries the monotonic time of the call`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let manager = try UnixSocket(SOCK_DGRAM, at: "\(directory.path)/notify")
            unsafe setenv("NOTIFY_SOCKET", "\(directory.path)/notify", 1)
            let before = ClockReading.now().monotonic
            ServiceNotifier.fromEnvironment().reloading()
            let after = ClockReading.now().monotonic

            let message = try #require(manager.receivedText())
            #expect(message.hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
            let stamp = try #require(Int64(message.dropFirst("RELOADING=1\nMONOTONIC_USEC=".count)))
            #expect((before...after).contains(stamp))
        }
    }

    @Test func `a line break in a status does not begin another assignment`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let manager = try UnixSocket(SOCK_DGRAM, at: "\(directory.path)/notify")
            unsafe setenv("NOTIFY_SOCKET", "\(directory.path)/notify", 1)
            ServiceNotifier.fromEnvironment().status("work\nMAINPID=1\r\nSTOPPING=1 é")
            #expect(manager.receivedText() == "STATUS=work MAINPID=1  STOPPING=1 é")
        }
    }

    @Test func `without a manager nothing is sent`() async {
        await #expect(processExitsWith: .success) {
            let directory = try TemporaryDirectory()
            let manager = try UnixSocket(SOCK_DGRAM, at: "\(directory.path)/notify")
            unsafe unsetenv("NOTIFY_SOCKET")
            unsafe unsetenv("WATCHDOG_USEC")
            let notifier = ServiceNotifier.fromEnvironment()
            #expect(!notifier.isConnected)
            #expect(notifier.watchdogInterval == nil)
            // If the value did not remember that there was no manager, these would reach the socket.
            unsafe setenv("NOTIFY_SOCKET", "\(directory.path)/notify", 1)
            notifier.ready(status: "")
            notifier.status("")
            notifier.reloading()
            notifier.stopping()
            notifier.watchdog()
            #expect(manager.received() == nil)
        }
    }

    @Test func `a manager that went away does no harm`() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("NOTIFY_SOCKET", "/nonexistent/notify", 1)
            ServiceNotifier.fromEnvironment().ready(status: "")
        }
    }

    @Test func `the watchdog counts only if it names this process`() async {
        await #expect(processExitsWith: .success) {
            unsafe setenv("WATCHDOG_USEC", "30000000", 1)
            #expect(ServiceNotifier.fromEnvironment().watchdogInterval == .seconds(30))
            unsafe setenv("WATCHDOG_PID", "\(getpid())", 1)
            #expect(ServiceNotifier.fromEnvironment().watchdogInterval == .seconds(30))
            unsafe setenv("WATCHDOG_PID", "1", 1)
            #expect(ServiceNotifier.fromEnvironment().watchdogInterval == nil)
            unsafe unsetenv("WATCHDOG_PID")
            unsafe setenv("WATCHDOG_USEC", "soon", 1)
            #expect(ServiceNotifier.fromEnvironment().watchdogInterval == nil)
        }
    }
}
