import OAuthMessages
import RefreshCore
import Synchronization

/// The metadata of the servers in use, in memory, fetched once for all who ask at the same time.
///
/// Every request asks, and nearly always finds: this is a lock because an actor would take its turn on the event loop each time.
final class MetadataCache: Sendable {
    /// Metadata is per issuer and profile: a profile decides about trust and about the issuer's template.
    struct Key: Hashable {
        let issuer: Issuer
        let profile: ProviderProfile?
    }

    fileprivate struct Entry {
        var metadata: AuthorizationServerMetadata
        var fetchedAt: ContinuousClock.Instant
        var lifetime: Duration
    }

    /// One client at one endpoint.
    struct ClientAt: Hashable {
        let endpoint: Endpoint
        let clientID: String
    }

    /// A way of writing credentials beyond what the account remembers.
    struct LearnedForm: Sendable {
        let method: ClientAuthentication
        let repeatsClientID: Bool
        let audience: AssertionAudience
    }

    fileprivate struct Refusal {
        let error: MetadataError
        let at: ContinuousClock.Instant
    }

    /// How long a fetch that failed, or that showed nothing new, is not repeated: ten thousand accounts of a dead
    /// issuer ask once.
    static let refusalLifetime = Duration.seconds(5)
    /// How long metadata is kept of which one document could not be had.
    static let incompleteLifetime = Duration.seconds(600)

    /// What servers say in passing.
    let origins = OriginMemory()
    private let fetch: MetadataFetch
    private let configuration: OAuthClientConfiguration
    private let memory = Mutex(Memory())

    fileprivate struct Memory {
        var entries: [Key: Entry] = [:]
        var refusals: [Key: Refusal] = [:]
        var inFlight: [Key: Fetching] = [:]
        /// Raised whenever failures are forgotten: a fetch that began before knows nothing of what has changed.
        var circumstances = 0
        /// How clients had to prove themselves where the first guess was refused. Found out again after a restart.
        var learnedForms: [ClientAt: LearnedForm] = [:]
        /// Where documents are kept beyond a restart; nil if nowhere.
        var shelf: MetadataShelf?
    }

    fileprivate typealias Fetching = Task<Result<MetadataFetch.Result, MetadataError>, Never>

    private enum Finding {
        case known(AuthorizationServerMetadata)
        case refused(MetadataError)
        case underWay(Fetching)
    }

    init(fetch: MetadataFetch, configuration: OAuthClientConfiguration) {
        self.fetch = fetch
        self.configuration = configuration
    }

    /// Has the last good documents kept, and used after a restart while they cannot be fetched.
    func keep(in shelf: MetadataShelf) {
        memory.withLock { $0.shelf = shelf }
    }

    /// The metadata for `key`, fetched if there is none or it is too old; too old is better than none if that fails.
    func metadata(for key: Key) async throws(MetadataError) -> AuthorizationServerMetadata {
        if let metadata = AuthorizationServerMetadata(issuer: key.issuer, profile: key.profile) { return metadata }
        let fetching: Fetching
        switch find(key) {
        case .known(let metadata): return metadata
        case .refused(let error): throw error
        case .underWay(let task): fetching = task
        }
        switch await fetching.value {
        case .success(let result):
            return result.metadata
        case .failure(let error):
            guard let old = memory.withLock({ $0.entries[key] }) else { throw error }
            return old.metadata
        }
    }

    /// What is known, or else the fetch that will tell, begun if there is none: looked up in one go, so that there is never a second.
    private func find(_ key: Key) -> Finding {
        let now = configuration.uptime()
        return memory.withLock { memory in
            let entry = memory.entries[key]
            if let entry, entry.fetchedAt.duration(to: now) < entry.lifetime { return .known(entry.metadata) }
            if let refusal = memory.refusals[key], refusal.at.duration(to: now) < Self.refusalLifetime {
                return entry.map { .known($0.metadata) } ?? .refused(refusal.error)
            }
            if let task = memory.inFlight[key] { return .underWay(task) }
            // A task of its own: a caller that gives up must not take the answer from the others.
            let task = Task { [circumstances = memory.circumstances] in await self.fetch(key, in: circumstances) }
            memory.inFlight[key] = task
            return .underWay(task)
        }
    }

    /// Has the metadata fetched again before the next use: its token endpoint is not where it said.
    ///
    /// Metadata fetched a moment ago stays: all accounts of the issuer find the same, and one fetch is enough for them.
    func expire(_ key: Key) {
        let now = configuration.uptime()
        memory.withLock { memory in
            guard let entry = memory.entries[key], entry.fetchedAt.duration(to: now) >= Self.refusalLifetime else {
                return
            }
            memory.entries[key]?.lifetime = .zero
        }
    }

    /// Has what failed fetched again before the next use, and what is being fetched, too: the network or the clock may have changed.
    func forgetFailures() {
        memory.withLock { memory in
            memory.refusals = [:]
            memory.inFlight = [:]
            memory.circumstances += 1
        }
    }

    /// The same for the failures of one issuer, and nothing that is being fetched: somebody asks who may have mended what it was.
    func forgetFailures(of issuer: Issuer) {
        memory.withLock { memory in
            for key in memory.refusals.keys where key.issuer == issuer { memory.refusals[key] = nil }
        }
    }

    /// What an earlier request found out; nil if the first guess was right or none was made.
    func learnedForm(of client: ClientAt) -> LearnedForm? {
        memory.withLock { $0.learnedForms[client] }
    }

    /// Remembers what a server took after it had refused another form.
    func learn(_ form: LearnedForm, of client: ClientAt) {
        memory.withLock { memory in
            if memory.learnedForms.count >= configuration.metadataLimit { memory.learnedForms = [:] }
            memory.learnedForms[client] = form
        }
    }

    private func fetch(_ key: Key, in circumstances: Int) async -> Result<MetadataFetch.Result, MetadataError> {
        let result: Result<MetadataFetch.Result, MetadataError>
        do throws(MetadataError) {
            result = .success(try await fetch.run(issuer: key.issuer, profile: key.profile))
        } catch {
            result = .failure(error)
        }
        let kept = await settle(result, with: key)
        let now = configuration.uptime()
        memory.withLock { memory in
            if let kept, memory.entries[key] == nil {
                // Fetched anew at the next use that a failure does not forbid.
                memory.entries[key] = MetadataCache.Entry(metadata: kept, fetchedAt: now, lifetime: .zero)
            }
            if memory.circumstances == circumstances {
                memory.inFlight[key] = nil
            } else if case .failure = result {
                return
            }
            memory.keep(result, for: key, at: now, configuration)
        }
        return result
    }

    /// Keeps what was fetched; if nothing could be, and there is nothing in memory, finds what was kept.
    private func settle(
        _ result: Result<MetadataFetch.Result, MetadataError>,
        with key: Key
    ) async -> AuthorizationServerMetadata? {
        let (shelf, isKnown) = memory.withLock { ($0.shelf, $0.entries[key] != nil) }
        guard let shelf else { return nil }
        let place = KeptMetadata.Place(issuer: key.issuer, caFile: key.profile?.caFile)
        switch result {
        case .success(let fetched):
            // One document of two is less than what was kept.
            guard fetched.isComplete, fetched.bodies.allSatisfy({ $0.count <= KeptMetadata.bytesMax }) else { break }
            let documents = KeptMetadata(documents: fetched.bodies, fetchedAt: configuration.now())
            // Nobody who waits for the metadata waits for the disk.
            Task { await shelf.keep(place, documents) }
        case .failure:
            guard !isKnown, let kept = await shelf.find(place),
                configuration.now() - kept.fetchedAt < KeptMetadata.lifetime
            else { break }
            return MetadataFetch.metadata(in: kept, for: key)
        }
        return nil
    }
}

extension MetadataCache.Memory {
    fileprivate mutating func keep(
        _ result: Result<MetadataFetch.Result, MetadataError>,
        for key: MetadataCache.Key,
        at now: ContinuousClock.Instant,
        _ configuration: OAuthClientConfiguration
    ) {
        switch result {
        case .success(let fetched):
            refusals[key] = nil
            if entries[key] == nil, entries.count >= configuration.metadataLimit,
                let oldest = entries.min(by: { $0.value.fetchedAt < $1.value.fetchedAt })
            {
                entries[oldest.key] = nil
            }
            let lifetime =
                fetched.isComplete
                ? configuration.metadataLifetime
                : min(MetadataCache.incompleteLifetime, configuration.metadataLifetime)
            entries[key] = MetadataCache.Entry(metadata: fetched.metadata, fetchedAt: now, lifetime: lifetime)
        case .failure(let error):
            if refusals.count >= configuration.metadataLimit { refusals = [:] }
            refusals[key] = MetadataCache.Refusal(error: error, at: now)
        }
    }
}
