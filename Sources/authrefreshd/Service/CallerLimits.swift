internal import AuthRefreshInterface
internal import Varlink

/// The limits on everything that callers can make the daemon hold, except those of a connection, which are in
/// `ServerLimits`. Of what all callers share, a process may have half of what the others leave (`Shares`).
///
/// The page <doc:Limits> shows them to users. A test compares the page with this type, and names the test that reaches
/// each limit.
enum CallerLimits {
    /// The limits of the socket.
    static var server: ServerLimits {
        var limits = ServerLimits()
        // A subscriber that pauses for a moment misses nothing, even if hundreds of accounts are refreshed in a second.
        limits.undrainedBytesMax = 8 << 20
        return limits
    }

    /// The most connected callers, unless the configuration sets another number.
    static let connectionsMax = server.connectionsMax

    /// Descriptors for everything except callers: the store, requests, watches.
    static let otherDescriptors = 512

    /// The size in bytes of a page of `GetStatus` and `ListAccounts`. A full page of typical accounts has about 300 KB.
    /// A page ends with the account that exceeds the limit, and the rest follows with the next call. Accounts listed by
    /// name may have four times as much.
    static let pageBytesMax = 512 << 10

    /// How many accounts of a subscriber's initial state are sent in one turn of the queue: a millisecond or two.
    static let presentPage = 100

    /// The most accounts, unless the configuration sets another number. The store was measured with a million.
    static let accountsMax = 1_000_000

    /// The most accounts in one call of `ApplyAccounts`, and the most that it removes. All are checked and stored in one
    /// turn of the queue, each writes a line of the journal, and few people have a hundred.
    static let appliedAccountsMax = 1_000

    /// The most bytes of one account's settings. Real ones have a few hundred, with long scopes some thousand.
    static let settingsBytesMax = 16 << 10

    /// The most units and executables on one account's lists. Real lists have a handful. Each call for its tokens may
    /// have to look up all files.
    static let allowedCallersMax = 64

    /// The most addresses of one account. Real accounts have a handful. All are compared when a tool asks by address.
    static let urlsMax = 32

    /// The most calls that wait for the user's answer. Of calls that ask the same, the user sees one at a time.
    static let confirmationsMax = 32
    /// How long a question is open. `authctl` waits a minute.
    static let confirmationTime = Duration.seconds(50)
    /// The most answers that apply to later calls. When one more comes, all are forgotten; each then costs one
    /// question.
    static let standingAnswersMax = 256

    /// The time limit for looking up a caller's executable or one on a list, which may be on a mount that hangs.
    static let lookUpTime = Duration.seconds(5)
    /// The most look-ups of callers and executables at the same time. Each one that hangs holds a thread.
    static let lookUpsMax = 48

    /// The most accounts derived from one account. All of them are checked when it has a token again.
    static let derivedAccountsMax = 100

    /// The longest chain of accounts that are derived from one another. Each waits for all before it.
    static let derivationsMax = 4

    /// The most bytes of a refresh token or client secret in a call; the largest seen has 16 KiB.
    static let secretBytesMax = 64 << 10

    /// The most sign-ins under way. Each has two listening sockets and waits for one person, who can do only one thing
    /// at a time.
    static let signInsMax = 32

    /// The most web sessions under way. Each has two listening sockets and waits for one person.
    static let webSessionsMax = 16

    /// The most registrations, sign-outs and proofs of imported grants under way. Each may wait a minute for a server.
    /// `authctl logout --all` does them one by one. Renewals of client secrets and questions about a token's lifetime
    /// count as well.
    static let serverCallsMax = 32

    /// The most diagnoses under way. Each asks up to eight servers at a time.
    static let diagnosesMax = 4

    /// The most accounts that a subscriber may follow by name. A subscriber with more follows all accounts.
    static let subscribedAccountsMax = 10_000

    /// How many lines about refused callers are written per `refusalStretch`, for each account whose list refuses and
    /// for each reason of the socket. The first lines show who it is.
    static let refusalLinesMax = 20
    /// 64 accounts, and 64 reasons of the socket (each refused user is one), have a budget of `refusalLinesMax` lines per
    /// `refusalStretch` each. All later accounts share one more, and so do all later reasons: (64 + 64 + 2) × 20 = 2,600
    /// lines. The journal accepts 10,000 lines in 30 s from a service, and then drops everything from it.
    static let refusalSubjectsMax = 64
    static let refusalStretch = Duration.seconds(60)

    /// The most backups that wait for their callers. They are made one at a time, and a caller opens its backup as soon
    /// as it is ready.
    static let backupsMax = 4
    /// How long a finished backup waits. A caller opens it immediately, and can then read it even without its name.
    static let backupKept = Duration.seconds(30)

    /// The most accounts with a token file. Each file's state is kept in memory, and all expiries are checked in each
    /// turn.
    static let tokenFilesMax = 1_000
    /// The time limit for writing token files. They are on tmpfs, which is fast.
    static let tokenFileTime = Duration.seconds(5)
    /// How long after a failure token files are tried again, unless a refresh comes earlier.
    static let tokenFileRetry = Duration.seconds(60)

    /// The most `on_change` commands at the same time. Each is a process, and a change of the network changes all
    /// accounts at once.
    static let changeCommandsMax = 4
    /// The most accounts whose newest change waits for its command. Changes of further accounts are dropped.
    static let changesWaitingMax = 1_000

    /// The most accounts that `GetMetrics` lists by name. Each makes two series in a monitoring system, which are
    /// stored for weeks. If there are more accounts, only those with problems are listed.
    static let measuredAccountsMax = 1_000

    /// The most findings that one check of the store reports. It keeps them until its end; further ones are only
    /// counted. A store with so many findings has a single cause and a single solution.
    static let findingsMax = 1_000
}
