internal import AuthRefreshInterface
internal import Varlink

/// Everything that callers can make the daemon hold: all limits in one place, but for those of a connection, which
/// `ServerLimits` explains.
///
/// The page <doc:Limits> shows them to users; a test holds it against this, and names the test that reaches each.
enum CallerLimits {
    /// Those of the socket.
    static var server: ServerLimits {
        var limits = ServerLimits()
        // A subscriber that stands still for a moment misses nothing, even while hundreds of accounts are refreshed in a second.
        limits.undrainedBytesMax = 8 << 20
        return limits
    }

    /// Callers that may be connected, unless the configuration says otherwise.
    static let connectionsMax = server.connectionsMax

    /// Those of the socket with room for so many callers; one in sixteen places is kept for other users than the one who has most.
    static func server(connections: Int) -> ServerLimits {
        var limits = server
        limits.connectionsMax = connections
        limits.connectionsPerUIDMax = connections - connections / 16
        return limits
    }

    /// Descriptors for all but callers: the store, requests, watches.
    static let otherDescriptors = 512

    /// Bytes of accounts in a page of `GetStatus` and `ListAccounts`: a full page of usual accounts has some 300 KB. A page ends with the
    /// account that passes it, and the others come with the next call. Accounts that are named may have four times as many.
    static let pageBytesMax = 512 << 10

    /// Accounts of which a subscriber is told their present state in one turn of the queue: a millisecond or two.
    static let presentPage = 100

    /// Accounts kept, unless the configuration says otherwise: a million is what the store is measured with.
    static let accountsMax = 1_000_000

    /// Bytes of one account's settings: real ones have a few hundred, with long scopes some thousand.
    static let settingsBytesMax = 16 << 10

    /// Units and executables that one account is for: a handful. Each call for its tokens may look at the file of each.
    static let allowedCallersMax = 64

    /// Addresses for which tools take one account: a handful. Each is looked at when a tool asks for an account by an address.
    static let urlsMax = 32

    /// Agents that ask the user: one runs in each desktop session.
    static let agentsMax = 4
    /// Questions that the user has not answered: nobody reads more.
    static let confirmationsMax = 32
    /// Those of one program, so that one program's questions leave room for the others'. A mail program asks for a handful of accounts.
    static let confirmationsOfProgramMax = 8
    /// How long a question waits for the user: `authctl` waits for a minute.
    static let confirmationTime = Duration.seconds(50)
    /// Answers that hold for the time to come. When one more comes, all are forgotten; each costs one question.
    static let standingAnswersMax = 256

    /// How long a caller's executable, or one that a list names, is waited for: it may be on a mount that does not answer.
    static let lookUpTime = Duration.seconds(5)
    /// Callers, and executables on lists, looked up at the same time. Each that hangs holds a thread.
    static let lookUpsMax = 48

    /// Accounts whose tokens are derived from one account: they are all looked at when it has a token again.
    static let derivedAccountsMax = 100

    /// How many accounts may stand behind one another, each derived from the next: each waits for all behind it.
    static let derivationsMax = 4

    /// Bytes of a refresh token or client secret that is brought in; the largest seen has 16 KiB.
    static let secretBytesMax = 64 << 10

    /// Subscribers at once: each costs a descriptor and a copy of every change. A desktop has a handful; half of the connections
    /// stay for those who ask.
    static func subscribersMax(connections: Int) -> Int {
        connections / 2
    }

    /// Sign-ins under way at once: each has two listening sockets and waits for one person, who can do one thing at a time.
    static let signInsMax = 32

    /// Web sessions under way at once: each has two listening sockets, and waits for one person.
    static let webSessionsMax = 16
    /// Those of one process, so that one program's sessions leave room for the others'.
    static let webSessionsOfProcessMax = 4

    /// Registrations, sign-outs and proofs of imported grants under way at once: each may wait for a server for a minute. `authctl logout
    /// --all` does one after the other. Renewals of client secrets and questions about a token's life take places here, too.
    static let serverCallsMax = 32

    /// Diagnoses under way at once: each asks up to eight servers at a time.
    static let diagnosesMax = 4

    /// Accounts that one subscriber may follow by name. Who has more to follow follows all of them.
    static let subscribedAccountsMax = 10_000

    /// Lines about refused callers in each `refusalStretch`, for each account whose list refuses, and each reason for which the socket
    /// does: who it is stands in the first ones.
    static let refusalLinesMax = 20
    /// Accounts that have so many lines each in a `refusalStretch`, and as many reasons of the socket's, which has one for each user whom
    /// it does not serve; those that come later have so many together. That is 2,600 lines at most: the journal takes 10,000 in 30 s of a
    /// service, and then drops what comes, of whatever kind.
    static let refusalSubjectsMax = 64
    static let refusalStretch = Duration.seconds(60)

    /// Backups that wait for their callers to open them. One is made at a time, and opened as soon as its caller is told of it.
    static let backupsMax = 4
    /// How long a backup waits for that: a caller does nothing else first, and whoever has it open reads on without its name.
    static let backupKept = Duration.seconds(30)

    /// Accounts whose token stands in a file: what is known of each file is held in memory, and their ends are looked through in each turn.
    static let tokenFilesMax = 1_000
    /// How long the file system may take over the token files that are to be written. It is tmpfs, where nothing takes long.
    static let tokenFileTime = Duration.seconds(5)
    /// How long after a failure token files are tried again, unless a refresh comes first.
    static let tokenFileRetry = Duration.seconds(60)

    /// Commands of `on_change` that run at the same time: each is a process, and a change of the network changes all accounts at once.
    static let changeCommandsMax = 4
    /// Accounts whose newest change waits for that; changes of others are not told.
    static let changesWaitingMax = 1_000

    /// Accounts that `GetMetrics` names: each is two series in a monitoring system, which are kept for weeks. Of more accounts only those
    /// in trouble are named.
    static let measuredAccountsMax = 1_000

    /// Findings that one check of the store tells, and keeps until it is over; more are counted only. A store with so many has
    /// one cause, and one way out.
    static let findingsMax = 1_000
}
