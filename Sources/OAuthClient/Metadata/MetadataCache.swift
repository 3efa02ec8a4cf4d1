import Dispatch
import OAuthMessages
import RefreshCore
import Synchronization

/// The metadata of the servers in use, in memory. It is fetched once for all callers that ask at the same time.
///
/// Each request needs it, and nearly always finds it here. It is protected by a lock, because a call to an actor would
/// wait for its turn on the event loop each time.
final class MetadataCache: Sendable {
    /// The key of an entry. It contains the profile as well as the issuer, because the profile names trusted
    /// authorities and the issuer's template.
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

    /// A form of credentials that a server accepted after it had refused the first one.
    struct LearnedForm: Sendable {
        let method: ClientAuthentication
        let repeatsClientID: Bool
        let audience: AssertionAudience
    }

    /// How long a fetch is not repeated after it failed or brought nothing new. So ten thousand accounts of a dead
    /// issuer cause one fetch.
    static let refusalLifetime = Duration.seconds(5)
    /// How long callers wait for documents that the server does not send, if they were fetched before. Then they get those,
    /// and the fetch goes on. It is a multiple of what slow servers take, and leaves time for the request itself.
    static let patience = Duration.milliseconds(2_500)
    /// The most documents that wait for the first account of their issuer. A person who adds one adds few at a time.
    static let unkeptMax = 8
    /// How long metadata is kept if one of its two documents could not be fetched.
    static let incompleteLifetime = Duration.seconds(600)

    private let fetch: MetadataFetch
    private let configuration: OAuthClientConfiguration
    private let memory = Mutex(Memory())

    fileprivate struct Memory {
        var entries: [Key: Entry] = [:]
        var refusals: [Key: (error: MetadataError, at: ContinuousClock.Instant)] = [:]
        var inFlight: [Key: Fetching] = [:]
        /// Counts the calls of `forgetFailures()`. A fetch that began before the last call may fail for a reason that
        /// no longer exists.
        var circumstances = 0
        /// The forms of credentials that servers accepted after they had refused the first one. They are lost at a
        /// restart, and found out again.
        var learnedForms: [ClientAt: LearnedForm] = [:]
        /// Where documents are kept over a restart; nil if nowhere.
        var shelf: MetadataStore?
        /// Documents that the shelf did not take, because no account had their issuer yet: a server is checked before its
        /// first account is added.
        var unkept: [(key: Key, documents: KeptMetadata)] = []
    }

    fileprivate typealias Fetching = Task<Result<AuthorizationServerMetadata, MetadataError>, Never>

    private enum Finding {
        case known(AuthorizationServerMetadata, unkept: KeptMetadata?)
        case refused(MetadataError)
        case underWay(Fetching)
    }

    init(fetch: MetadataFetch, configuration: OAuthClientConfiguration) {
        self.fetch = fetch
        self.configuration = configuration
    }

    /// Keeps the last good documents in `shelf`. They are used after a restart while the server cannot be reached.
    func keep(in shelf: MetadataStore) {
        memory.withLock { $0.shelf = shelf }
    }

    /// The metadata for `key`. Fetches it if there is none or it is too old. If the fetch fails or takes long, metadata that
    /// is too old is returned.
    func metadata(for key: Key) async throws(MetadataError) -> AuthorizationServerMetadata {
        if let metadata = AuthorizationServerMetadata(issuer: key.issuer, profile: key.profile) { return metadata }
        let fetching: Fetching
        switch find(key) {
        case .known(let metadata, let unkept):
            if let unkept { keep(unkept, for: key) }
            return metadata
        case .refused(let error): throw error
        case .underWay(let task): fetching = task
        }
        switch await fetching.value {
        case .success(let metadata):
            return metadata
        case .failure(let error):
            guard let old = memory.withLock({ $0.entries[key] }) else { throw error }
            return old.metadata
        }
    }

    /// The known metadata, or the running fetch; begins a fetch if there is neither. Looking and beginning happen under
    /// one lock, so that there are never two fetches.
    private func find(_ key: Key) -> Finding {
        let now = configuration.uptime()
        return memory.withLock { memory in
            let entry = memory.entries[key]
            if let entry, entry.fetchedAt.duration(to: now) < entry.lifetime {
                let place = memory.unkept.firstIndex { $0.key == key }
                return .known(entry.metadata, unkept: place.map { memory.unkept.remove(at: $0).documents })
            }
            if let refusal = memory.refusals[key], refusal.at.duration(to: now) < Self.refusalLifetime {
                return entry.map { .known($0.metadata, unkept: nil) } ?? .refused(refusal.error)
            }
            if let task = memory.inFlight[key] { return .underWay(task) }
            // The fetch is a separate task, so that one caller's cancellation does not take the answer from the others.
            let task = Task { [circumstances = memory.circumstances] in await self.answer(key, in: circumstances) }
            memory.inFlight[key] = task
            return .underWay(task)
        }
    }

    /// Makes the next use fetch the metadata again, because its token endpoint did not answer like a token endpoint.
    ///
    /// It does nothing if the metadata was fetched a moment ago: all accounts of the issuer notice the same, and one
    /// fetch is enough for them.
    func expire(_ key: Key) {
        let now = configuration.uptime()
        memory.withLock { memory in
            guard let entry = memory.entries[key], entry.fetchedAt.duration(to: now) >= Self.refusalLifetime else {
                return
            }
            memory.entries[key]?.lifetime = .zero
        }
    }

    /// Makes the next use repeat failed and running fetches, because the network or the clock may have changed.
    func forgetFailures() {
        memory.withLock { memory in
            memory.refusals = [:]
            memory.inFlight = [:]
            memory.circumstances += 1
        }
    }

    /// Makes the next use repeat failed fetches of one issuer, but not running ones, because a person who asks may have
    /// corrected the cause.
    func forgetFailures(of issuer: Issuer) {
        memory.withLock { memory in
            for key in memory.refusals.keys where key.issuer == issuer { memory.refusals[key] = nil }
        }
    }

    /// The form that an earlier request found out; nil if the first form was accepted or none was tried.
    func learnedForm(of client: ClientAt) -> LearnedForm? {
        memory.withLock { $0.learnedForms[client] }
    }

    /// Remembers the form that a server accepted after it had refused another.
    func learn(_ form: LearnedForm, of client: ClientAt) {
        memory.withLock { memory in
            if memory.learnedForms.count >= configuration.metadataLimit { memory.learnedForms = [:] }
            memory.learnedForms[client] = form
        }
    }

    /// Forgets the form, because the server does not accept it any more.
    func forgetForm(of client: ClientAt) {
        memory.withLock { $0.learnedForms[client] = nil }
    }

    /// What all callers get who wait for `key`: the result of the fetch, or the metadata at hand if the fetch takes long.
    private func answer(
        _ key: Key,
        in circumstances: Int
    ) async -> Result<AuthorizationServerMetadata, MetadataError> {
        let (results, continuation) = AsyncStream<Result<AuthorizationServerMetadata, MetadataError>>.makeStream()
        let fetching = Task {
            let result = await self.fetch(key, in: circumstances)
            continuation.yield(result)
            return result
        }
        Task {
            var old = memory.withLock { $0.entries[key]?.metadata }
            if old == nil { old = await keptMetadata(for: key) }
            guard let old else { return }
            let limit = DispatchTimeInterval.microseconds(Int(Self.patience.microseconds))
            DispatchQueue.global().asyncAfter(deadline: .now() + limit) { continuation.yield(.success(old)) }
        }
        for await first in results { return first }
        return await fetching.value
    }

    private func fetch(
        _ key: Key,
        in circumstances: Int
    ) async -> Result<AuthorizationServerMetadata, MetadataError> {
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
                // Fetched again at the next use, unless a recent failure forbids it.
                memory.entries[key] = MetadataCache.Entry(metadata: kept, fetchedAt: now, lifetime: .zero)
            }
            if memory.circumstances == circumstances {
                memory.inFlight[key] = nil
            } else if case .failure = result {
                return
            }
            memory.keep(result, for: key, at: now, configuration)
        }
        return result.map(\.metadata)
    }

    /// Keeps the fetched metadata. If the fetch failed and there is none in memory, takes the kept documents.
    private func settle(
        _ result: Result<MetadataFetch.Result, MetadataError>,
        with key: Key
    ) async -> AuthorizationServerMetadata? {
        switch result {
        case .success(let fetched):
            // If only one document was fetched, the two that were kept before are better.
            guard fetched.isComplete, fetched.bodies.allSatisfy({ $0.count <= KeptMetadata.bytesMax }) else { break }
            keep(KeptMetadata(documents: fetched.bodies, fetchedAt: configuration.now()), for: key)
        case .failure:
            guard memory.withLock({ $0.entries[key] == nil }) else { break }
            return await keptMetadata(for: key)
        }
        return nil
    }

    /// Puts the documents on the shelf, or keeps them until there is an account that needs them.
    private func keep(_ documents: KeptMetadata, for key: Key) {
        guard let shelf = memory.withLock({ $0.shelf }) else { return }
        // This runs in a task, so that callers do not wait for the disk.
        Task {
            guard await !shelf.keep(Self.place(of: key), documents) else { return }
            memory.withLock { memory in
                memory.unkept = memory.unkept.filter { $0.key != key }.suffix(Self.unkeptMax - 1) + [(key, documents)]
            }
        }
    }

    /// The metadata on the shelf; nil if there is none, or none that may still be used.
    private func keptMetadata(for key: Key) async -> AuthorizationServerMetadata? {
        guard let shelf = memory.withLock({ $0.shelf }), let kept = await shelf.find(Self.place(of: key)),
            configuration.now() - kept.fetchedAt < KeptMetadata.lifetime
        else { return nil }
        return MetadataFetch.metadata(in: kept, for: key)
    }

    private static func place(of key: Key) -> KeptMetadata.Place {
        KeptMetadata.Place(issuer: key.issuer, caFile: key.profile?.caFile)
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
            refusals[key] = (error, now)
        }
    }
}
