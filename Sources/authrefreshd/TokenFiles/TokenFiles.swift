internal import AuthRefreshInterface
internal import Basics
internal import RefreshCore

/// The token files of accounts: their intended and their actual content.
///
/// They are written in batches, one after the other, on a separate thread. Meanwhile, changes wait for the next batch,
/// and only the last change of each file counts.
struct TokenFiles {
    /// The content of a file. Two contents are equal if they have the same token in the same form.
    struct Content: Equatable, Sendable {
        let file: TokenFile
        /// When the token was issued. It distinguishes tokens.
        let issuedAt: Moment
        /// The token's lifetime from then on.
        let lifetime: Duration

        static func == (one: Content, other: Content) -> Bool {
            one.file == other.file && one.issuedAt == other.issuedAt
        }

        func remaining(at now: Moment) -> Duration { max(lifetime - now.longestElapsed(since: issuedAt), .zero) }
    }

    private struct Entry {
        var file: TokenFile
        /// The content of the file, now or after the waiting batches; nil for none.
        var content: Content?
        /// When the file was written; nil if there is no file.
        var writtenAt: Timestamp?
        /// Why there is no token to write; nil if there is one, or if the account has none at all.
        var lack: String?
        /// The error of the file system; nil for none.
        var error: FileError?
    }

    let folder: TokenFolder
    /// There is one batch at a time, so the key is always the same.
    let work = BlockingWork<Bool, [String: FileError]>(
        "authrefreshd.token-files",
        timeLimit: CallerLimits.tokenFileTime,
        piecesMax: 1
    )
    private var entries: [AccountID: Entry] = [:]
    /// The account of each file name.
    private var owners: [String: AccountID] = [:]
    /// The work of the next batch, by file name; nil contents remove the file.
    private var waiting: [String: Secret?] = [:]
    /// Files of no account that could not be removed.
    private var leftovers: Set<String> = []
    private var sweeps = false
    /// The work of the batch under way; nil if there is none.
    private var batch: [String: Secret?]?
    /// Called when everything requested of their files before has been done or tried.
    private var listeners: [@Sendable () -> Void] = []
    /// Listeners that came after the current batch began.
    private var laterListeners: [@Sendable () -> Void] = []
    /// When a file last failed; nil if none is failing.
    private var failedAt: Moment?

    init(in folder: String) {
        self.folder = TokenFolder(path: folder)
    }

    var count: Int { entries.count }
    /// The accounts with a file.
    var accounts: [AccountID] { entries.keys.sorted() }
    /// Whether nothing is under way.
    var isIdle: Bool { batch == nil && waiting.isEmpty }

    /// The last file of an account; nil if it had none.
    func file(of account: AccountID) -> TokenFile? { entries[account]?.file }

    func contains(_ account: AccountID) -> Bool { entries[account] != nil }

    /// How long until a token expires or a failed file is retried; nil if there is nothing to wait for.
    func remaining(at now: Moment) -> Duration? {
        guard batch == nil, !entries.isEmpty || failedAt != nil else { return nil }
        let ends = entries.values.compactMap { $0.content?.remaining(at: now) }
        let retry = failedAt.map { max(CallerLimits.tokenFileRetry - now.elapsed(since: $0), .zero) }
        return (ends + [retry].compactMap(\.self)).min()
    }

    /// The accounts whose files have to be updated now.
    mutating func due(at now: Moment) -> [AccountID] {
        guard batch == nil else { return [] }
        let isRetryDue = failedAt.map { now.elapsed(since: $0) >= CallerLimits.tokenFileRetry } ?? false
        if isRetryDue {
            for name in leftovers where owners[name] == nil { waiting[name] = .some(nil) }
            leftovers = []
            failedAt = now
        }
        return entries.filter { _, entry in
            entry.content?.remaining(at: now) == .zero || isRetryDue && entry.error != nil
        }.map(\.key).sorted()
    }

    /// Removes files that belong to no account in the next batch; an earlier daemon has left them. Without a folder
    /// there are none, and no thread is woken.
    mutating func sweep() { sweeps = folder.isThere }

    /// Sets the intended content of an account's file.
    ///
    /// - Parameters:
    ///   - file: the file; nil if the account no longer has one.
    ///   - content: the content; nil if there is no valid token.
    ///   - text: the text of the content.
    mutating func want(
        _ file: TokenFile?,
        _ content: Content?,
        _ text: Secret?,
        lack: String?,
        of account: AccountID
    ) {
        var entry = entries[account]
        if let old = entry, old.file.name != file?.name {
            discard(old.file.name, of: account)
            entry = nil
        }
        guard let file else { return entries[account] = nil }
        guard owners[file.name, default: account] == account else {
            entries[account] = Entry(file: file, lack: "another account writes this file")
            return
        }
        owners[file.name] = account
        var next = entry ?? Entry(file: file)
        next.file = file
        next.lack = lack
        defer { entries[account] = next }
        if let content, let text, next.content != content || next.error != nil {
            next.content = content
            waiting[file.name] = .some(text)
        } else if content == nil, next.content != nil || next.error != nil {
            next.content = nil
            waiting[file.name] = .some(nil)
        } else if next.content == content {
            // The token is the same, but `forget-after` may have been changed, and with it the time when the file is
            // removed.
            next.content = content
        }
    }

    private mutating func discard(_ name: String, of account: AccountID) {
        guard owners[name] == account else { return }
        owners[name] = nil
        waiting[name] = .some(nil)
    }

    /// The next batch: its work by file name, and the files to keep besides them, if others are to be removed; nil if
    /// there is nothing to do, or if one is under way.
    mutating func nextBatch() -> (jobs: [String: Secret?], kept: Set<String>?)? {
        guard batch == nil, !waiting.isEmpty || sweeps else { return nil }
        defer { (batch, waiting, sweeps) = (waiting, [:], false) }
        return (waiting, sweeps ? Set(owners.keys) : nil)
    }

    /// What to write to the journal after a batch.
    enum News: Equatable {
        case failed(AccountID?, String)
        case well
    }

    /// Handles the end of a batch.
    ///
    /// - Parameter errors: the errors by file name; nil if the batch hangs.
    /// - Returns: the news for the journal; nil for none.
    mutating func ended(_ errors: [String: FileError]?, at now: Moment) -> News? {
        let jobs = (batch ?? [:]).sorted { $0.key < $1.key }
        batch = nil
        let hadFailed = failedAt != nil
        var first: News?
        for (name, contents) in jobs {
            let error = errors.map { $0[name] } ?? .hangs
            if let error, first == nil { first = .failed(owners[name], "'\(path(name))': \(error)") }
            note(error, name, isRemoval: contents == nil, at: now)
        }
        let isFailing = first != nil || !leftovers.isEmpty || entries.values.contains { $0.error != nil }
        failedAt = first != nil ? now : isFailing ? failedAt : nil
        if waiting.isEmpty { (listeners, laterListeners) = (listeners + laterListeners, []) }
        for listener in listeners { listener() }
        (listeners, laterListeners) = (laterListeners, [])
        if let first { return hadFailed ? nil : first }
        return hadFailed && !isFailing ? .well : nil
    }

    private mutating func note(_ error: FileError?, _ name: String, isRemoval: Bool, at now: Moment) {
        guard let owner = owners[name], entries[owner]?.file.name == name else {
            if error != nil { leftovers.insert(name) }
            return
        }
        entries[owner]?.error = error
        guard error == nil else {
            // The file does not have the intended content.
            if waiting[name] == nil, !isRemoval { entries[owner]?.content = nil }
            return
        }
        entries[owner]?.writtenAt = isRemoval ? nil : now.wall
    }

    /// Calls `done` when everything requested of these files now has been done, or was tried for `tokenFileTime`. A
    /// caller does not wait for another account's file.
    mutating func whenSettled(_ files: [TokenFile?], _ done: @escaping @Sendable () -> Void) {
        let names = files.compactMap { $0?.name }
        let isWaiting = names.contains { waiting[$0] != nil }
        if isWaiting, batch != nil {
            laterListeners.append(done)
        } else if isWaiting || names.contains(where: { batch?[$0] != nil }) {
            listeners.append(done)
        } else {
            done()
        }
    }

    /// The status of an account's file; nil if it has none.
    func status(of account: Account) -> TokenFileStatus? {
        guard let file = account.delivery.file else { return nil }
        let entry = entries[account.id]
        return TokenFileStatus(
            path: path(file.name),
            kind: file.kind.rawValue,
            writtenAtUSec: entry?.writtenAt?.microseconds,
            trouble: entry?.error.map { "it cannot be written: \($0)" } ?? entry?.lack
        )
    }

    private func path(_ name: String) -> String { folder.path + "/" + name }
}
