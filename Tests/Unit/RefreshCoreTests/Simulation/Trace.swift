import RefreshCore

/// The events of a world: the last entries for reading, and a fingerprint of all of them for comparing.
struct Trace {
    struct Entry: Hashable {
        var time: Int64
        var step: Step
    }

    enum Step: Hashable {
        case event(Event)
        case effect(Effect)
        case incident(Incident)
        case exchange(Fate)
        case commitFailed, crashed, restarted
    }

    private static let kept = 60

    private(set) var fingerprint = 0
    private(set) var count = 0
    private var entries: [Entry] = []

    mutating func note(_ step: Step, at time: Int64) {
        let entry = Entry(time: time, step: step)
        fingerprint = fingerprint &* 31 &+ entry.hashValue
        if entries.count < Trace.kept { entries.append(entry) } else { entries[count % Trace.kept] = entry }
        count += 1
    }

    /// The last entries, one on each line, with the day and second of true time.
    var text: String {
        let oldest = entries.count < Trace.kept ? 0 : count % Trace.kept
        let ordered = entries[oldest...] + entries[..<oldest]
        return ordered.map { entry in
            let seconds = Double(entry.time % 86_400_000_000) / 1e6
            return "  day \(entry.time / 86_400_000_000) second \(seconds): \(entry.step.text)"
        }.joined(separator: "\n")
    }
}

extension Trace.Step {
    /// The entry on one line, without the text that all failures of the model have in common.
    fileprivate var text: String {
        switch self {
        case .event(.answer(.refreshFailed(let generation, let failure))):
            "event refreshFailed(\(generation)) \(failure.failureClass) \(failure.retryAfter.map(String.init(describing:)) ?? "")"
        case .event(.answer(.tokensIssued(let generation, let issuance))):
            "event tokensIssued(\(generation)) \(issuance.isRotated ? "rotated" : "") \(issuance.lifetime ?? .zero)"
        case .event(let event): "event \(event)"
        case .effect(.send(let lease, let set)): "send \(lease.generation)\(set.map { " for \($0.text)" } ?? "")"
        case .effect(.persist(let change)): "persist \(change)"
        case .effect(.publish(.refreshFailed(_, let retryAt))):
            "publish refreshFailed, retry at \(retryAt.microseconds)"
        case .effect(.publish(.misconfigured(_, let retryAt))):
            "publish misconfigured, retry at \(retryAt.microseconds)"
        case .effect(.publish(.interactionRequired(let required))): "publish interactionRequired \(required.reason)"
        case .effect(.publish(let change)): "publish \(change)"
        case .incident(let incident): "--- \(incident)"
        case .exchange(let fate): "exchange \(fate)"
        case .commitFailed: "commit failed"
        case .crashed: "--- crashed"
        case .restarted: "--- restarted"
        }
    }
}
