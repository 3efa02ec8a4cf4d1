internal import Synchronization

/// Something that belongs to one context, on its way to another: whoever takes it first has it.
final class Disconnected<Value>: Sendable {
    private let value: Mutex<Value?>

    init(_ value: sending Value) {
        self.value = Mutex(value)
    }

    /// Nil if it was taken before.
    func take() -> sending Value? {
        value.withLock { $0.take() }
    }
}
