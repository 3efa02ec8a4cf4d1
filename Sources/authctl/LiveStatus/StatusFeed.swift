internal import AuthRefreshInterface

/// Where accounts stand, kept up to date by what the daemon tells; it is never asked again for what it has told.
struct StatusFeed: ~Copyable {
    private let names: [String]
    private let connection: ConnectionOptions
    private var daemon: DaemonConnection
    private var states = AccountStates()
    /// The daemon as a whole, as of the last change.
    private(set) var info: GetInfo.Reply?

    /// Subscribes, and waits for the present state.
    ///
    /// - Parameter names: the accounts to follow; empty means all.
    static func open(names: [String], connection: ConnectionOptions) throws(AuthctlError) -> StatusFeed {
        // Not an initialiser: Swift cannot give up a type without copies half-way through one.
        var feed = StatusFeed(names, connection, try connection.connect())
        try feed.begin()
        return feed
    }

    private init(_ names: [String], _ connection: ConnectionOptions, _ daemon: consuming DaemonConnection) {
        self.names = names
        self.connection = connection
        self.daemon = daemon
    }

    /// In the order of the names' bytes, which is the daemon's own.
    var accounts: [AccountStatus] { states.sorted }

    var pollDescriptor: Int32 { daemon.pollDescriptor }

    /// Waits for a change, and takes those that came with it. Ends the process once nobody reads its output.
    mutating func waitForChange() throws(AuthctlError) {
        while try !takeChanges() { StandardOutput.wait(forInputOn: pollDescriptor) }
    }

    /// Takes the changes that have come; whether there were any.
    @discardableResult mutating func takeChanges() throws(AuthctlError) -> Bool {
        var hasChanged = false
        do throws(AuthctlError) {
            while let change = try daemon.availableChange() {
                states.apply(change)
                hasChanged = true
            }
        } catch {
            try begin(after: error)
            return true
        }
        if hasChanged { try askForInfo() }
        return hasChanged
    }

    /// Subscribes anew after the daemon has gone: a restart, as an upgrade makes it, leaves a socket where the next one answers.
    ///
    /// - Throws: `error` itself, unless it is the connection's end; what the second attempt fails with.
    private mutating func begin(after error: AuthctlError) throws(AuthctlError) {
        guard case .connection(.ended) = error else { throw error }
        daemon = try connection.connect()
        try begin()
    }

    private mutating func begin() throws(AuthctlError) {
        states = AccountStates()
        try daemon.subscribe(to: names)
        while !states.isComplete { states.apply(try daemon.nextChange()) }
        try askForInfo()
    }

    /// On a connection of its own: the other one is busy with its endless answer.
    private mutating func askForInfo() throws(AuthctlError) {
        var daemon = try connection.connect()
        info = try daemon.ask(.getInfo, GetInfo.Parameters(), for: GetInfo.Reply.self)
    }
}

/// What the changes so far add up to.
struct AccountStates {
    private var byName: [String: AccountStatus] = [:]
    /// Whether the present state has come to its end.
    private(set) var isComplete = false

    var sorted: [AccountStatus] {
        byName.values.sorted { $0.account.utf8.lexicographicallyPrecedes($1.account.utf8) }
    }

    mutating func apply(_ change: Subscribe.Reply) {
        if change.event == "ready" { isComplete = true }
        if let previous = change.previousName { byName[previous] = nil }
        // A change without a state is an account's end.
        if change.accounts.isEmpty, let account = change.account { byName[account] = nil }
        for status in change.accounts { byName[status.account] = status }
    }
}
