internal import AccountStorage
internal import AuthRefreshInterface
internal import Basics
internal import OAuthClient
internal import OAuthMessages
internal import RefreshCore
internal import Systemd
internal import TextEncodings

/// Checks everything that refreshes depend on, and reports findings as they come.
///
/// It runs beside the coordinator, and uses its queue for one page of accounts at a time. It changes no account and
/// sends no token.
struct Diagnosis: Sendable {
    /// How many accounts are checked: half a second of work, in pages that callers hardly notice.
    static let accountsMax = 10_000
    /// How many accounts are read in one turn of the coordinator's queue. That takes some ms.
    static let pageSize = 250
    /// How many servers are asked. With 10 s for a silent server, this takes at most two minutes.
    static let serversMax = 64
    /// How many servers are asked at the same time.
    static let concurrentServersMax = 8
    /// The time limit for files and file systems. A network file system may hang forever.
    static let fileLimit = Duration.seconds(5)

    let coordinator: RefreshCoordinator
    /// The accounts to check; nil for all.
    let accounts: [String]?

    /// Reports the findings as they come, on any thread.
    func run(_ tell: @escaping @Sendable (Finding) -> Void) async {
        tell(await configurationFinding)
        if let program = ProgramCheck() { tell(program.finding) }
        do throws(StoreError) {
            let condition = try await coordinator.condition()
            condition.hostFindings(coordinator.client.inspection.proxy, .now()).forEach(tell)
            await condition.checkStore(tell)
            condition.paceFindings.forEach(tell)
            let survey = try await survey(condition)
            survey.findings.forEach(tell)
            await ask(survey.servers, condition, tell)
        } catch {
            // The daemon cannot read its own store, and so checks nothing else.
            tell(.error(.store, error.description, needs: .repair, advice: error.hint ?? Hint(Command("status"))))
        }
    }

    private var configurationFinding: Finding {
        get async {
            switch await BlockingCall.result(within: Self.fileLimit, of: coordinator.configurationError) {
            case nil:
                .warning(
                    .configuration,
                    "the configuration's file system has not answered within \(Self.fileLimit.words)",
                    needs: .time,
                    advice: "look at the file system: \(Command(program: "findmnt"))"
                )
            case .some(nil): .ok(.configuration, "the configuration is valid")
            case .some(let error?):
                .error(
                    .configuration,
                    "\(error); the running daemon keeps its present configuration",
                    needs: .repair,
                    advice: "correct it, then: \(Command(program: "authrefreshd", "--check"))"
                )
            }
        }
    }

    /// Reads the accounts, page by page.
    private func survey(_ condition: DaemonCondition) async throws(StoreError) -> AccountSurvey {
        var survey = AccountSurvey(
            total: accounts?.count ?? condition.overview.accounts,
            settings: condition.settings,
            now: condition.now
        )
        if let accounts {
            for name in accounts {
                if let account = try await coordinator.shownAccount(named: name) {
                    survey.look(at: account, unused: try await coordinator.unusedAddresses(of: account))
                }
            }
            return survey
        }
        var last: String?
        while survey.seen < Self.accountsMax, !Task.isCancelled {
            let page = try await coordinator.shownAccounts(after: last, limit: Self.pageSize)
            for account in page {
                survey.look(at: account, unused: try await coordinator.unusedAddresses(of: account))
            }
            guard page.count == Self.pageSize else { break }
            last = page.last?.name
        }
        return survey
    }

    /// Asks the servers in the order of their URLs, several at a time. Each reports its own findings.
    private func ask(
        _ servers: [SurveyedServer],
        _ condition: DaemonCondition,
        _ tell: @escaping @Sendable (Finding) -> Void
    ) async {
        let names = NameLookup()
        await withTaskGroup(of: Void.self) { group in
            let sorted = servers.sorted {
                ($0.issuer.url, $0.profile?.name ?? "") < ($1.issuer.url, $1.profile?.name ?? "")
            }
            for (index, server) in sorted.enumerated() {
                if index >= Self.concurrentServersMax { await group.next() }
                guard !Task.isCancelled else { break }
                let check = ServerCheck(
                    server: server,
                    inspection: coordinator.client.inspection,
                    names: names,
                    isOnline: condition.overview.isOnline,
                    wallClock: { [coordinator] in coordinator.timebase.now().wall }
                )
                group.addTask { await check.run(tell) }
            }
        }
    }
}

/// The coordinator's state, for a diagnosis.
struct DaemonCondition: Sendable {
    var overview: Overview
    var keyring: StoreKeyring
    /// The key that the store is sealed with.
    var keyIdentifier: String
    var storePath: String
    /// Whether the open store has a name, at its path or elsewhere, so that it outlives the daemon.
    var storeHasName: Bool
    var isRekeying: Bool
    var now: Moment
    var settings: RefreshConfiguration
    /// Whether the system reports steps of the clock, new routes and resumes.
    var watchesClock: Bool
    var watchesRoutes: Bool
    var watchesSleep: Bool
    /// The programs because of which others were refused lately.
    var hoarders: [(text: String, ago: Duration)]

    /// The servers whose accounts wait for their turn.
    var paceFindings: [Finding] {
        overview.behind.map { issuer, since in
            .warning(
                .servers,
                "its accounts need more refreshes than it answers, or than the limits allow; they have waited for "
                    + now.elapsed(since: since).words,
                of: issuer.url,
                needs: .repair,
                advice:
                    "if the server allows more, raise max_concurrent_refreshes and max_refreshes_per_second in authrefreshd.yaml"
            )
        }
    }
}

extension RefreshCoordinator {
    /// What a diagnosis reads here.
    ///
    /// - Throws: the error of reading the store.
    fileprivate func condition() throws(StoreError) -> DaemonCondition {
        DaemonCondition(
            overview: try overview(),
            keyring: storeKeeping.keyring,
            keyIdentifier: store.rekeying.keyIdentifier,
            storePath: store.path,
            storeHasName: store.hasName,
            isRekeying: storeKeeping.isRekeying,
            now: timebase.now(),
            settings: settings,
            watchesClock: host.watchesClock,
            watchesRoutes: host.watchesRoutes,
            watchesSleep: host.watchesSleep,
            hoarders: changeLog.recentHoarders()
        )
    }
}

extension Duration {
    /// `42 s`, `59 min`, `5 h` or `12 days`, without the sign.
    var words: String {
        LocalTime.length(Int64(clamping: components.seconds.magnitude))
    }
}
