internal import CSystemd
internal import Glibc

/// Reports the daemon's state to the service manager: ready, reloading, stopping, alive (sd_notify(3)).
///
/// Without a service manager, every call does nothing. If a message cannot be delivered, it is dropped. The manager
/// then acts on its absence (start time-out, watchdog), and the daemon can do nothing better than continue.
///
/// `NOTIFY_SOCKET` and `WATCHDOG_PID` stay in the environment. `NotifyAccess=main` and the process ID keep children
/// from using them, and removing a variable would race with other threads that read the environment.
package struct ServiceNotifier: Sendable {
    /// Whether a service manager listens.
    package let isConnected: Bool

    /// The longest time between calls of `watchdog()`; nil if there is no watchdog for this process.
    ///
    /// It is the unit's `WatchdogSec=`. Call at half of it, so that one late call does no harm.
    package let watchdogInterval: Duration?

    /// The notifier for this process's environment.
    package static func fromEnvironment() -> ServiceNotifier {
        var microseconds: UInt64 = 0
        // A negative result means malformed variables, from which no interval can be read.
        let isWatched = unsafe sd_watchdog_enabled(0, &microseconds) > 0
        return ServiceNotifier(
            isConnected: unsafe getenv("NOTIFY_SOCKET") != nil,
            watchdogInterval: isWatched ? .microseconds(Int64(clamping: microseconds)) : nil
        )
    }

    /// A notifier that reports to nobody, for a daemon in the foreground and for tests.
    package static let disconnected = ServiceNotifier(isConnected: false, watchdogInterval: nil)

    /// Reports that start-up or a reload is over; `systemctl status` shows `status`.
    package func ready(status: String) {
        notify("READY=1\nSTATUS=\(Self.line(status))")
    }

    /// Replaces the line in `systemctl status`.
    package func status(_ status: String) {
        notify("STATUS=\(Self.line(status))")
    }

    /// Reports that the configuration is being read again; `ready(status:)` must follow.
    package func reloading() {
        // Type=notify-reload compares this time with that of its signal, so that it does not mistake an earlier reload
        // for this one.
        notify("RELOADING=1\nMONOTONIC_USEC=\(ClockReading.now().monotonic)")
    }

    /// Asks the manager to wait for `time` from now, if it would give up before (`TimeoutStartSec=`). A start that
    /// takes longer has to ask again.
    package func extendTimeout(by time: Duration) {
        notify("EXTEND_TIMEOUT_USEC=\(Int64(time / .microseconds(1)))")
    }

    /// Reports that the daemon is stopping.
    package func stopping() {
        notify("STOPPING=1")
    }

    /// Reports that the daemon is alive. Call it from the queue that has to prove that it runs.
    package func watchdog() {
        notify("WATCHDOG=1")
    }

    private func notify(_ message: String) {
        guard isConnected else { return }
        _ = unsafe sd_notify(0, message)
    }

    /// `text` on one line. A line break would begin another assignment, such as `MAINPID=`.
    private static func line(_ text: String) -> String {
        String(text.unicodeScalars.map { $0.value < 0x20 ? " " : Character($0) })
    }
}
