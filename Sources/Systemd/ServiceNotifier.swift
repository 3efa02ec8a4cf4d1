internal import CSystemd
internal import Glibc

/// Tells the service manager how the daemon is: ready, reloading, stopping, alive (sd_notify(3)).
///
/// Where no manager asked to be told, every call does nothing. A message that cannot be delivered is dropped: the manager
/// acts on what it does not hear (start time-out, watchdog), and the daemon has no better answer than to go on.
///
/// `NOTIFY_SOCKET` and `WATCHDOG_PID` stay in the environment. Children are kept out by `NotifyAccess=main` and by their
/// own process id, and taking a variable away would race with every other thread that reads the environment.
package struct ServiceNotifier: Sendable {
    /// Whether a service manager listens.
    package let isConnected: Bool

    /// How often at the latest `watchdog()` must be called; nil where no watchdog looks at this process.
    ///
    /// This is the unit's `WatchdogSec=`: call at half of it, so that one late call does no harm.
    package let watchdogInterval: Duration?

    /// The notifier that this process's environment describes.
    package static func fromEnvironment() -> ServiceNotifier {
        var microseconds: UInt64 = 0
        // Negative means malformed variables: no interval can be made of those, so there is none to keep.
        let isWatched = unsafe sd_watchdog_enabled(0, &microseconds) > 0
        return ServiceNotifier(
            isConnected: unsafe getenv("NOTIFY_SOCKET") != nil,
            watchdogInterval: isWatched ? .microseconds(Int64(clamping: microseconds)) : nil
        )
    }

    /// A notifier that tells nobody: for a daemon in the foreground and for tests.
    package static let disconnected = ServiceNotifier(isConnected: false, watchdogInterval: nil)

    /// Start-up, or a reload, is over; `status` is shown by `systemctl status`.
    package func ready(status: String) {
        notify("READY=1\nSTATUS=\(Self.line(status))")
    }

    /// Replaces the line that `systemctl status` shows.
    package func status(_ status: String) {
        notify("STATUS=\(Self.line(status))")
    }

    /// The configuration is being read anew; `ready(status:)` must follow.
    package func reloading() {
        // Type=notify-reload compares the stamp with the time it sent the signal, so as not to take an older reload for it.
        notify("RELOADING=1\nMONOTONIC_USEC=\(ClockReading.now().monotonic)")
    }

    /// The daemon has begun to end.
    package func stopping() {
        notify("STOPPING=1")
    }

    /// The daemon is alive; to be called from the queue whose turning over is to be proved.
    package func watchdog() {
        notify("WATCHDOG=1")
    }

    private func notify(_ message: String) {
        guard isConnected else { return }
        _ = unsafe sd_notify(0, message)
    }

    /// `text` on one line: a line break in it would begin another assignment, `MAINPID=` say.
    private static func line(_ text: String) -> String {
        String(text.unicodeScalars.map { $0.value < 0x20 ? " " : Character($0) })
    }
}
