import RefreshCore

/// The metadata of the servers in use, in memory, fetched once for all who ask at the same time.
actor MetadataCache {
    /// Metadata is per issuer and profile: a profile decides about trust and about the issuer's template.
    struct Key: Hashable {
        let issuer: Issuer
        let profile: ProviderProfile?
    }

    private struct Entry {
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
    struct LearnedForm {
        let method: ClientAuthentication
        let repeatsClientID: Bool
        let audience: AssertionAudience
    }

    private struct Refusal {
        let error: MetadataError
        let at: ContinuousClock.Instant
    }

    /// How long a fetch that failed, or that showed nothing new, is not repeated: ten thousand accounts of a dead
    /// issuer ask once.
    static let refusalLifetime = Duration.seconds(5)
    /// How long metadata is kept of which one document could not be had.
    static let incompleteLifetime = Duration.seconds(600)

    /// What servers say in passing.
    nonisolated let origins = OriginMemory()
    private let fetch: MetadataFetch
    private let configuration: OAuthClientConfiguration
    private var entries: [Key: Entry] = [:]
    private var refusals: [Key: Refusal] = [:]
    private var inFlight: [Key: Task<Result<MetadataFetch.Result, MetadataError>, Never>] = [:]
    /// How clients had to prove themselves where the first guess was refused. Found out again after a restart.
    private var learnedForms: [ClientAt: LearnedForm] = [:]

    init(fetch: MetadataFetch, configuration: OAuthClientConfiguration) {
        self.fetch = fetch
        self.configuration = configuration
    }

    /// The metadata for `key`, fetched if there is none or it is too old; too old is better than none if that fails.
    func metadata(for key: Key) async throws(MetadataError) -> AuthorizationServerMetadata {
        if let metadata = AuthorizationServerMetadata(issuer: key.issuer, profile: key.profile) { return metadata }
        let now = configuration.uptime()
        if let entry = entries[key], entry.fetchedAt.duration(to: now) < entry.lifetime { return entry.metadata }
        if let refusal = refusals[key], refusal.at.duration(to: now) < Self.refusalLifetime {
            guard let entry = entries[key] else { throw refusal.error }
            return entry.metadata
        }
        switch await fetched(key) {
        case .success(let result):
            return result.metadata
        case .failure(let error):
            guard let entry = entries[key] else { throw error }
            return entry.metadata
        }
    }

    /// Has the metadata fetched again before the next use: its token endpoint is not where it said.
    ///
    /// Metadata fetched a moment ago stays: all accounts of the issuer find the same, and one fetch is enough for them.
    func expire(_ key: Key) {
        guard let entry = entries[key], entry.fetchedAt.duration(to: configuration.uptime()) >= Self.refusalLifetime
        else { return }
        entries[key]?.lifetime = .zero
    }

    /// What an earlier request found out; nil if the first guess was right or none was made.
    func learnedForm(of client: ClientAt) -> LearnedForm? {
        learnedForms[client]
    }

    /// Remembers what a server took after it had refused another form.
    func learn(_ form: LearnedForm, of client: ClientAt) {
        if learnedForms.count >= configuration.metadataLimit { learnedForms = [:] }
        learnedForms[client] = form
    }

    private func fetched(_ key: Key) async -> Result<MetadataFetch.Result, MetadataError> {
        if let task = inFlight[key] { return await task.value }
        // A task of its own: a caller that gives up must not take the answer from the others.
        let task = Task { [fetch] () -> Result<MetadataFetch.Result, MetadataError> in
            do throws(MetadataError) {
                return .success(try await fetch.run(issuer: key.issuer, profile: key.profile))
            } catch {
                return .failure(error)
            }
        }
        inFlight[key] = task
        let result = await task.value
        inFlight[key] = nil
        keep(result, for: key)
        return result
    }

    private func keep(_ result: Result<MetadataFetch.Result, MetadataError>, for key: Key) {
        let now = configuration.uptime()
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
                ? configuration.metadataLifetime : min(Self.incompleteLifetime, configuration.metadataLifetime)
            entries[key] = Entry(metadata: fetched.metadata, fetchedAt: now, lifetime: lifetime)
        case .failure(let error):
            if refusals.count >= configuration.metadataLimit { refusals = [:] }
            refusals[key] = Refusal(error: error, at: now)
        }
    }
}
