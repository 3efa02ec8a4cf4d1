internal import CSystemd
package import Dispatch

/// Reports changes that may have unlocked the Secret Service: a changed collection, or a new provider of the service.
package final class SecretServiceWatch {
    /// Implementations report an unlocked collection in different ways. Not all signals of the service are watched,
    /// because our own calls cause some of them.
    private static let rules = [
        "type='signal',sender='org.freedesktop.secrets',interface='org.freedesktop.Secret.Service'",
        "type='signal',sender='org.freedesktop.secrets',member='PropertiesChanged'",
        "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged',arg0='org.freedesktop.secrets'",
    ]

    private let connection: BusConnection

    /// Connects without waiting, then calls `onChange` on `queue` when the watch has begun, and at each later change.
    ///
    /// - Parameters:
    ///   - address: the address of the session bus.
    ///   - onLost: called once, on `queue`, when the bus goes away. The watch is then over.
    /// - Throws: `unavailable` if there is no bus.
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
            // The start of the watch counts as a change, because earlier changes would be missed otherwise.
            let result = unsafe sd_bus_add_match_async(
                handle.bus,
                nil,
                rule,
                { _, context, _ in unsafe ChangeListener.take(context) },
                { _, context, _ in unsafe ChangeListener.take(context) },
                Unmanaged.passUnretained(listener).toOpaque()
            )
            guard result >= 0 else { throw .busUnusable(errno: -result) }
        }
        connection = BusConnection(handle, queue: queue) { _ in onLost() }
    }

    /// Ends the watch; may be called twice. If it is called on the watch's queue, no callback follows.
    package func cancel() {
        connection.cancel()
    }
}

/// The object behind the context pointer of the C callbacks. `BusHandle` keeps it alive.
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
