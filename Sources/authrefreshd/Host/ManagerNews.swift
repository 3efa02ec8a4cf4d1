internal import Dispatch
internal import Synchronization
internal import Systemd

/// What the service manager is to be told, on a queue of its own: a manager that does not read blocks whoever tells it something
/// (sd_notify(3)).
///
/// Of each kind of news only the latest waits, so there are never more than five.
final class ManagerNews: Sendable {
    enum Item: Sendable {
        case ready(String)
        case status(String)
        case reloading
        case stopping
        case alive

        func tell(_ notifier: ServiceNotifier) {
            switch self {
            case .ready(let status): notifier.ready(status: status)
            case .status(let status): notifier.status(status)
            case .reloading: notifier.reloading()
            case .stopping: notifier.stopping()
            case .alive: notifier.watchdog()
            }
        }

        /// Whether `next` makes it needless to tell this.
        fileprivate func isOutdated(by next: Item) -> Bool {
            switch (self, next) {
            case (.ready, .ready), (.status, .status), (.status, .ready), (.reloading, .reloading),
                (.stopping, .stopping), (.alive, .alive):
                true
            case (.ready, _), (.status, _), (.reloading, _), (.stopping, _), (.alive, _): false
            }
        }
    }

    private struct State {
        var waiting: [Item] = []
        var isTelling = false
    }

    private let tell: @Sendable (Item) -> Void
    private let queue = DispatchQueue(label: "authrefreshd.manager")
    private let state = Mutex(State())

    /// - Parameter tell: tells one item, and may block.
    init(tell: @escaping @Sendable (Item) -> Void) {
        self.tell = tell
    }

    /// Has an item told after those that wait; never blocks.
    func add(_ item: Item) {
        let begins = state.withLock { state in
            state.waiting.removeAll { $0.isOutdated(by: item) }
            state.waiting.append(item)
            defer { state.isTelling = true }
            return !state.isTelling
        }
        if begins { queue.async { self.tellAll() } }
    }

    /// Returns when everything that was added until now is told, or when `limit` is over.
    func drain(within limit: Duration) async {
        await queue.drain(within: limit)
    }

    private func tellAll() {
        while let item = next() { tell(item) }
    }

    private func next() -> Item? {
        state.withLock { state in
            state.isTelling = !state.waiting.isEmpty
            return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
    }
}
