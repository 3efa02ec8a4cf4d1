internal import TestSupport

/// The history of a store. The same seed gives the same steps.
struct Script {
    private(set) var steps: [Step] = []
    /// The store's content before the first step, and after each step.
    private(set) var grants = [Grants()]

    private static let names = ["a", "b", "c", "d", "e"]

    /// - Parameter length: the number of steps after the first, which makes the accounts.
    init(seed: UInt64, length: Int) {
        var random = SplitMix64(seed: seed)
        append(.add(Self.names))
        for name in Self.names { append(.signIn(name)) }
        while steps.count < length {
            let names = Self.names.filter { _ in random.chance(0.4) }
            switch random.next() % 20 {
            case 0: append(.signOut(random.pick(Self.names)))
            case 1: appendReplacement(of: random.pick(Self.names))
            case 2: appendRekey()
            default: appendRefresh(of: names)
            }
        }
    }

    private mutating func append(_ step: Step) {
        var after = grants[grants.count - 1]
        step.apply(to: &after)
        steps.append(step)
        grants.append(after)
    }

    /// Adds the lease of each account, and its answer.
    private mutating func appendRefresh(of names: [String]) {
        let present = grants[grants.count - 1].byAccount
        for name in names where present[name]?.phase == .signedOut { append(.signIn(name)) }
        guard !names.isEmpty else { return }
        append(.lease(names))
        append(.rotate(names))
    }

    private mutating func appendReplacement(of name: String) {
        append(.remove(name))
        append(.add([name]))
    }

    /// Adds a key change, with two accounts in a batch. The last batch finds no account, and removes the old key.
    private mutating func appendRekey() {
        append(.beginRekey)
        for _ in 0...(Self.names.count + 1) / 2 { append(.reseal) }
        append(.forgetRetiredKey)
    }
}
