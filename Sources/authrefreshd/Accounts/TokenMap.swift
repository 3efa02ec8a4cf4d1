internal import AccountStorage
internal import RefreshCore
internal import Synchronization

/// The access tokens that every caller may have now, for threads other than the coordinator's.
///
/// Only `AccountRecords` puts entries in and takes them out, on the coordinator's queue. It takes an entry out before it
/// commits something that ends or restricts it, and puts one in after the commit that allows it. So every entry is
/// right. If there is none, the coordinator has to answer.
///
/// The lock is held for a look-up, and never while a disk or another program is waited for.
final class TokenMap: Sendable {
    /// The most bytes of tokens. 2 MiB hold the short tokens of 16,000 accounts, or the JSON Web Tokens of a thousand.
    /// A mail program's few accounts take some kilobytes.
    static let bytesMax = 2 << 20
    /// A token counts as at least so many bytes, because its entry takes about 400 more. So the map takes little more
    /// than 8 MiB in all.
    static let leastBytes = 128

    /// A token, and until when everybody may have it.
    struct Entry: Sendable {
        let account: AccountID
        let name: AccountName
        let token: AccessToken
        let terms: Terms
        /// When the coordinator last saw that the token may be given out.
        let seenAt: Moment
        /// When the token has expired or the account signs out, by each clock.
        let until: ClockEnds

        /// Creates the entry for `token`, which is the account's; nil if not everybody may have it at `now`.
        init?(_ account: Account, _ state: RefreshState, _ token: AccessToken, at now: Moment) {
            guard let terms = Terms(account, state), let until = state.givable(at: now),
                until.remaining(at: now) > .zero, state.holdsAccessToken(for: .zero, at: now)
            else { return nil }
            self.account = account.id
            name = account.name
            self.token = token
            self.terms = terms
            seenAt = now
            self.until = until
        }
    }

    /// What decides until when everybody may have an account's token.
    struct Terms: Equatable, Sendable {
        let times: AccessTokenTimes
        let signOut: RefreshTokenTimes?

        /// Returns nil if the coordinator has to decide about each caller: there is no token, the account has a list of
        /// callers or asks its user, its grant is another person's or has moved to another machine, or its token ends
        /// with another account's.
        init?(_ account: Account, _ state: RefreshState) {
            guard let times = state.accessToken, !state.isWithheld, !state.phase.isParked,
                account.allowedCallers == nil,
                account.registration.serviceGrant?.exchange == nil
            else { return nil }
            self.times = times
            signOut = state.signOut
        }
    }

    fileprivate struct Slot {
        var entry: Entry
        /// Whether somebody got the token since the last search for room.
        var isUsed: Bool
        var isDueTold = false
    }

    fileprivate struct State {
        /// The entries, in no order.
        var slots: [Slot] = []
        var places: [AccountID: Int] = [:]
        var names: [String: Int] = [:]
        var bytes = 0
        /// Where the search for room continues.
        var hand = 0
    }

    private let state = Mutex(State())

    /// Finds the token of the account of this name.
    ///
    /// - Returns: nil if the coordinator has to answer, as it does when the clocks contradict each other. Otherwise the
    ///   token, and whether the coordinator should be woken for it, because its refresh is due. It is woken once.
    func find(_ name: String, at now: Moment) -> (entry: Entry, isNewlyDue: Bool)? {
        state.withLock { state in
            // Swift compares characters. The sign for Kelvin equals K, but is not the same name.
            guard let place = state.names[name], state.slots[place].entry.name.text.utf8.elementsEqual(name.utf8)
            else { return nil }
            let entry = state.slots[place].entry
            guard now.agrees(with: entry.seenAt), entry.until.remaining(at: now) > .zero else { return nil }
            let isNewlyDue = !state.slots[place].isDueTold && entry.terms.times.isDue(at: now)
            if isNewlyDue { state.slots[place].isDueTold = true }
            state.slots[place].isUsed = true
            return (entry, isNewlyDue)
        }
    }

    /// Puts an entry in, in place of the account's last one. Entries that nobody has used for longest make room.
    ///
    /// - Parameter isUsed: whether a caller has just got the token.
    func put(_ entry: Entry, isUsed: Bool) {
        state.withLock { state in
            let wasUsed = state.remove(entry.account)?.isUsed ?? false
            if let other = state.names[entry.name.text] { state.remove(at: other) }
            guard entry.bytes <= Self.bytesMax else { return }
            while state.bytes + entry.bytes > Self.bytesMax { state.makeRoom() }
            state.append(Slot(entry: entry, isUsed: isUsed || wasUsed))
        }
    }

    /// Takes the account's entry out, unless it is still right.
    func takeOut(_ account: AccountID, unless isRight: (Entry) -> Bool = { _ in false }) {
        state.withLock { state in
            guard let place = state.places[account], !isRight(state.slots[place].entry) else { return }
            state.remove(at: place)
        }
    }

    /// How many entries there are, and how many bytes they count.
    var size: (entries: Int, bytes: Int) { state.withLock { ($0.slots.count, $0.bytes) } }
}

extension TokenMap.Entry {
    /// What the entry counts.
    fileprivate var bytes: Int { max(token.secret.count, TokenMap.leastBytes) }
}

extension TokenMap.State {
    fileprivate mutating func append(_ slot: TokenMap.Slot) {
        places[slot.entry.account] = slots.count
        names[slot.entry.name.text] = slots.count
        bytes += slot.entry.bytes
        slots.append(slot)
    }

    @discardableResult
    fileprivate mutating func remove(_ account: AccountID) -> TokenMap.Slot? {
        places[account].map { remove(at: $0) }
    }

    /// Removes an entry. The last one moves to its place.
    @discardableResult
    fileprivate mutating func remove(at place: Int) -> TokenMap.Slot {
        slots.swapAt(place, slots.count - 1)
        let slot = slots.removeLast()
        places[slot.entry.account] = nil
        names[slot.entry.name.text] = nil
        bytes -= slot.entry.bytes
        if place < slots.count {
            places[slots[place].entry.account] = place
            names[slots[place].entry.name.text] = place
        }
        return slot
    }

    /// Removes the next entry that was not used since the last search came by. There must be an entry.
    fileprivate mutating func makeRoom() {
        while true {
            if hand >= slots.count { hand = 0 }
            guard slots[hand].isUsed else { break }
            slots[hand].isUsed = false
            hand += 1
        }
        remove(at: hand)
    }
}
