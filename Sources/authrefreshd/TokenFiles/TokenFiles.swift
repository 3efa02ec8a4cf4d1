internal import AuthRefreshInterface
internal import BlockingWork
internal import RefreshCore

/// The files that hold accounts' tokens: what should stand in them, and what does.
///
/// They are written one batch after the other on a thread of their own. What is wanted meanwhile waits for the next batch, and of each file
/// only the last wish counts.
struct TokenFiles {
    /// What stands in a file. Two are the same if they hold the same token in the same form.
    struct Content: Equatable, Sendable {
        let file: TokenFile
        /// When the token was issued: another token has another time.
        let issuedAt: Moment
        /// How long it is valid from then on.
        let lifetime: Duration

        static func == (one: Content, other: Content) -> Bool {
            one.file == other.file && one.issuedAt == other.issuedAt
        }

        func remaining(at now: Moment) -> Duration { max(lifetime - now.elapsed(since: issuedAt), .zero) }
    }

    private struct Entry {
        var file: TokenFile
        /// What stands in it, or will with the batch that is under way or waits; nil: nothing.
        var content: Content?
        /// Nil: there is no file.
        var writtenAt: Timestamp?
        /// Why there is no token to write; nil: there is one, or the account has none at all.
        var lack: String?
        /// Why the file system did not do what it should; nil: it did.
        var fault: TokenFolder.Fault?
    }

    /// What one batch does.
    struct Batch: Sendable {
        let folder: TokenFolder
        let jobs: [TokenFolder.Job]
        let kept: Set<String>?
    }

    private let folder: TokenFolder
    /// One batch at a time: the key is always the same.
    let work = BlockingWork<Bool, [String: TokenFolder.Fault]>(
        "authrefreshd.token-files",
        timeLimit: CallerLimits.tokenFileTime,
        piecesMax: 1
    )
    private var entries: [AccountID: Entry] = [:]
    /// Whose file has which name.
    private var owners: [String: AccountID] = [:]
    /// What the next batch does, by the files' names; nil contents: the file is removed.
    private var waiting: [String: Secret?] = [:]
    /// Files of nobody that could not be removed.
    private var leftovers: Set<String> = []
    private var sweeps = false
    private var isBusy = false
    /// Told when everything that was wanted before they came is done, or was tried.
    private var listeners: [@Sendable () -> Void] = []
    /// Those whom the batch under way comes too early for.
    private var laterListeners: [@Sendable () -> Void] = []
    /// When files failed last; nil if none is failing.
    private var failedAt: Moment?

    init(in folder: String) {
        self.folder = TokenFolder(path: folder)
    }

    var count: Int { entries.count }
    /// Whether nothing is under way.
    var isIdle: Bool { !isBusy && waiting.isEmpty }

    /// The file that an account had last; nil if it had none.
    func file(of account: AccountID) -> TokenFile? { entries[account]?.file }

    func contains(_ account: AccountID) -> Bool { entries[account] != nil }

    /// How long until something has to be looked at: a token ends, or what failed is tried again. Nil if there is nothing.
    func remaining(at now: Moment) -> Duration? {
        guard !isBusy, !entries.isEmpty || failedAt != nil else { return nil }
        let ends = entries.values.compactMap { $0.content?.remaining(at: now) }
        let retry = failedAt.map { max(CallerLimits.tokenFileRetry - now.elapsed(since: $0), .zero) }
        return (ends + [retry].compactMap(\.self)).min()
    }

    /// The accounts whose files are to be looked at now.
    mutating func due(at now: Moment) -> [AccountID] {
        guard !isBusy else { return [] }
        let isRetryDue = failedAt.map { now.elapsed(since: $0) >= CallerLimits.tokenFileRetry } ?? false
        if isRetryDue {
            for name in leftovers where owners[name] == nil { waiting[name] = .some(nil) }
            leftovers = []
            failedAt = now
        }
        return entries.filter { _, entry in
            entry.content?.remaining(at: now) == .zero || isRetryDue && entry.fault != nil
        }.map(\.key).sorted()
    }

    /// Files that nobody owns are removed with the next batch: an earlier daemon has left them. Without a folder there are none, and no
    /// thread is woken for them.
    mutating func sweep() { sweeps = folder.isThere }

    /// The file of an account is to have this content.
    ///
    /// - Parameters:
    ///   - file: nil: the account has none any more.
    ///   - content: nil: there is no token that is valid.
    ///   - text: the content itself; asked for only if it does not stand there already.
    mutating func want(
        _ file: TokenFile?,
        _ content: Content?,
        lack: String?,
        of account: AccountID,
        text: () -> Secret?
    ) {
        var entry = entries[account]
        if let old = entry, old.file.name != file?.name {
            discard(old.file.name, of: account)
            entry = nil
        }
        guard let file else { return entries[account] = nil }
        guard owners[file.name, default: account] == account else {
            entries[account] = Entry(file: file, lack: TokenFileLack.otherAccounts.text)
            return
        }
        owners[file.name] = account
        var next = entry ?? Entry(file: file)
        next.file = file
        next.lack = lack
        defer { entries[account] = next }
        if let content, let text = next.content == content && next.fault == nil ? nil : text() {
            next.content = content
            waiting[file.name] = .some(text)
        } else if content == nil, next.content != nil || next.fault != nil {
            next.content = nil
            waiting[file.name] = .some(nil)
        }
    }

    private mutating func discard(_ name: String, of account: AccountID) {
        guard owners[name] == account else { return }
        owners[name] = nil
        waiting[name] = .some(nil)
    }

    /// The next batch; nil if there is nothing to do, or one is under way.
    mutating func nextBatch() -> Batch? {
        guard !isBusy, !waiting.isEmpty || sweeps else { return nil }
        isBusy = true
        defer {
            waiting = [:]
            sweeps = false
        }
        return Batch(
            folder: folder,
            jobs: waiting.sorted { $0.key < $1.key }.map { TokenFolder.Job(name: $0.key, contents: $0.value) },
            kept: sweeps ? Set(owners.keys) : nil
        )
    }

    /// What is told to the journal after a batch.
    enum News: Equatable {
        case failed(AccountID?, String)
        case well
    }

    /// A batch has ended.
    ///
    /// - Parameter faults: what went wrong, by the files' names; nil: it hangs.
    /// - Returns: what is new; nil if nothing is.
    mutating func ended(_ batch: Batch, _ faults: [String: TokenFolder.Fault]?, at now: Moment) -> News? {
        isBusy = false
        let hadFailed = failedAt != nil
        var first: News?
        for job in batch.jobs {
            let fault = faults.map { $0[job.name] } ?? .hangs
            if let fault, first == nil { first = .failed(owners[job.name], "'\(path(job.name))': \(fault)") }
            note(fault, job, at: now)
        }
        let isFailing = first != nil || !leftovers.isEmpty || entries.values.contains { $0.fault != nil }
        failedAt = first != nil ? now : isFailing ? failedAt : nil
        if waiting.isEmpty { (listeners, laterListeners) = (listeners + laterListeners, []) }
        for listener in listeners { listener() }
        (listeners, laterListeners) = (laterListeners, [])
        if let first { return hadFailed ? nil : first }
        return hadFailed && !isFailing ? .well : nil
    }

    private mutating func note(_ fault: TokenFolder.Fault?, _ job: TokenFolder.Job, at now: Moment) {
        guard let owner = owners[job.name], entries[owner]?.file.name == job.name else {
            if fault != nil { leftovers.insert(job.name) }
            return
        }
        entries[owner]?.fault = fault
        guard fault == nil else {
            // What was wanted does not stand there.
            if waiting[job.name] == nil, job.contents != nil { entries[owner]?.content = nil }
            return
        }
        entries[owner]?.writtenAt = job.contents == nil ? nil : now.wall
    }

    /// Calls `done` when all that is wanted now is done, or was tried for `tokenFileTime`.
    mutating func whenSettled(_ done: @escaping @Sendable () -> Void) {
        if !isBusy, waiting.isEmpty { return done() }
        if isBusy, !waiting.isEmpty { laterListeners.append(done) } else { listeners.append(done) }
    }

    /// Nil if the account has no file.
    func status(of account: Account) -> TokenFileStatus? {
        guard let file = account.delivery.file else { return nil }
        let entry = entries[account.id]
        return TokenFileStatus(
            path: path(file.name),
            kind: file.kind.rawValue,
            writtenAtUSec: entry?.writtenAt?.microseconds,
            trouble: entry?.fault.map { TokenFileLack.cannotBeWritten("\($0)") } ?? entry?.lack
        )
    }

    private func path(_ name: String) -> String { folder.path + "/" + name }
}
