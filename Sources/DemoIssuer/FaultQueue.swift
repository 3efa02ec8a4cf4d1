/// The queue of faults for the next requests to the token endpoint.
struct FaultQueue {
    /// The most faults in the queue. It is more than any test needs, and limits what the administration interface can
    /// make the server store.
    static let capacity = 10_000

    /// The faults, and how many requests each still affects; nil until cleared.
    private var entries: [(fault: Fault, remaining: Int?)] = []

    var isFull: Bool { entries.count >= Self.capacity }

    /// Adds a fault for `times` requests; nil means all until the queue is cleared.
    mutating func append(_ fault: Fault, times: Int?) {
        precondition(!isFull, "the caller has made sure that there is room")
        if let times, times < 1 { return }
        entries.append((fault, times))
    }

    /// The fault for the request that has just arrived.
    mutating func next() -> Fault? {
        guard let fault = entries.first?.fault else { return nil }
        if let remaining = entries[0].remaining {
            entries[0].remaining = remaining - 1
            if remaining == 1 { entries.removeFirst() }
        }
        return fault
    }

    mutating func clear() {
        entries = []
    }
}
