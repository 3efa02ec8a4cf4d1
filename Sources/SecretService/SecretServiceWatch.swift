internal import CSystemd
package import Dispatch
internal import Systemd

/// Tells when something about the Secret Service has changed that may have unlocked it: a collection's state, or who offers it.
package final class SecretServiceWatch {
    /// Implementations differ in how they say that a collection was unlocked. Not all signals of the service are followed: some come of
    /// our own calls.
    private static let rules = [
        "type='signal',sender='org.freedesktop.secrets',interface='org.freedesktop.Secret.Service'",
        "type='signal',sender='org.freedesktop.secrets',member='PropertiesChanged'",
        "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='org.freedesktop.secrets'",
    ]

    private let connection: BusConnection

    /// Connects without waiting, then calls `onChange` on `queue` once the watch has begun, and at each change after that.
    ///
    /// - Parameters:
    ///   - address: of the session bus.
    ///   - onLost: called once, on `queue`, when the bus goes away. The watch is over then.
    /// - Throws: `unavailable` when there is no bus.
    package init(
        queue: DispatchQueue,
        address: String,
        onLost: @escaping @Sendable () -> Void,
        onChange: @escaping @Sendable () -> Void
    ) throws(SecretServiceError) {
        let listener = ChangeListener(onChange)
        let handle: BusHandle
        do {
            handle = try BusHandle(address: address, context: listener)
        } catch {
            throw SecretServiceError(error)
        }
        for rule in Self.rules {
            // That it is in force counts as a change: what happened before would be missed otherwise.
            let result = unsafe sd_bus_add_match_async(
                handle.bus,
                nil,
                rule,
                { _, context, _ in unsafe ChangeListener.take(context) },
                { _, context, _ in unsafe ChangeListener.take(context) },
                Unmanaged.passUnretained(listener).toOpaque()
            )
            guard result >= 0 else { throw .unavailable(reason: SecretServiceError.text(-result)) }
        }
        connection = BusConnection(handle, queue: queue) { _ in onLost() }
    }

    /// Ends the watch; may be called twice. On the watch's queue no call follows.
    package func cancel() {
        connection.cancel()
    }
}

/// What the C callbacks find behind their context pointer; `BusHandle` keeps it alive.
private final class ChangeListener {
    private let onChange: @Sendable () -> Void

    init(_ onChange: @escaping @Sendable () -> Void) {
        self.onChange = onChange
    }

    static func take(_ context: UnsafeMutableRawPointer?) -> Int32 {
        if let context = unsafe context {
            unsafe Unmanaged<ChangeListener>.fromOpaque(context).takeUnretainedValue().onChange()
        }
        return 0
    }
}
