internal import CSystemd
internal import Dispatch
internal import Glibc

/// A connection to the session bus for blocking calls of the Secret Service.
final class SecretServiceBus {
    /// The time limit in µs, for connecting and for each call. It is generous because the service may have to be
    /// started first.
    private static let patience: UInt64 = 10_000_000

    private let handle: BusHandle

    init(address: String) throws(SecretServiceError) {
        final class Nothing {}
        do {
            handle = try BusHandle(address: address, context: Nothing())
        } catch {
            throw SecretServiceError(error)
        }
        try waitUntilReady()
    }

    /// sd_bus_call(3) would itself wait for the connection's set-up, for more than a minute and a half, whatever time
    /// limit it gets.
    private func waitUntilReady() throws(SecretServiceError) {
        let deadline = DispatchTime.now().uptimeNanoseconds / 1_000 + Self.patience
        while true {
            let ready = unsafe sd_bus_is_ready(handle.bus)
            guard ready == 0 else { return try check(ready) }
            let progress = unsafe sd_bus_process(handle.bus, nil)
            try check(progress)
            guard progress == 0 else { continue }
            let now = DispatchTime.now().uptimeNanoseconds / 1_000
            guard now < deadline else { throw .noAnswer(errno: ETIMEDOUT) }
            try check(unsafe sd_bus_wait(handle.bus, deadline - now))
        }
    }

    private func check(_ result: Int32) throws(SecretServiceError) {
        guard result < 0, result != -EINTR else { return }
        throw .busUnusable(errno: -result)
    }

    /// Calls a method of `org.freedesktop.Secret.INTERFACE`. `write` writes its arguments.
    func call(
        _ path: String,
        _ interface: String,
        _ method: String,
        _ write: (BusMessage) -> Void
    ) throws(SecretServiceError) -> BusMessage {
        var message: OpaquePointer?
        let made = unsafe sd_bus_message_new_method_call(
            handle.bus,
            &message,
            "org.freedesktop.secrets",
            path,
            "org.freedesktop.Secret.\(interface)",
            method
        )
        guard made >= 0, let message = unsafe message else { throw .noAnswer(errno: -made) }
        let question = unsafe BusMessage(message)
        write(question)
        var failure = unsafe sd_bus_error()
        defer { unsafe sd_bus_error_free(&failure) }
        var answer: OpaquePointer?
        let result = unsafe sd_bus_call(handle.bus, question.message, Self.patience, &failure, &answer)
        guard result >= 0, let answer = unsafe answer else {
            throw SecretServiceError(
                errno: -result,
                name: unsafe failure.name.map { unsafe String(cString: $0) },
                message: unsafe failure.message.map { unsafe String(cString: $0) }
            )
        }
        return unsafe BusMessage(answer)
    }
}

extension SecretServiceError {
    /// Why the bus cannot be connected.
    init(_ error: SystemdError) {
        self = error.errno.map { .busUnusable(errno: $0) } ?? .noBus
    }
}
