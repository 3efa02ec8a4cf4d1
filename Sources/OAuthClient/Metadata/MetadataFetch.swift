import OAuthMessages
package import RefreshCore

/// Fetches the metadata documents of an issuer and merges them.
struct MetadataFetch: Sendable {
    let transport: HTTPTransport
    let configuration: OAuthClientConfiguration

    /// The merged metadata, with what is known about the fetch.
    struct Result: Sendable {
        let metadata: AuthorizationServerMetadata
        /// The server's clock at the time of the answer; nil if the answer has no date.
        let serverDate: Timestamp?
        /// Whether the server answered the requests for both documents. False if one could not be fetched for a
        /// temporary reason. Its fields are then missing until the next fetch.
        let isComplete: Bool
        /// The documents as the server sent them.
        let bodies: [[UInt8]]
    }

    /// One document.
    struct Page {
        let fields: [String: JSONTree]
        let serverDate: Timestamp?
        let body: [UInt8]
    }

    typealias Document = Swift.Result<Page, MetadataError>

    @concurrent func run(issuer: Issuer, profile: ProviderProfile?) async throws(MetadataError) -> Result {
        let locations = AuthorizationServerMetadata.locations(of: issuer)
        // One after the other: they are fetched once a day, and two connections at once need twice the memory.
        let limit = min(configuration.discoveryTimeout, configuration.totalTimeout)
        let begin = configuration.uptime()
        // Some servers hang on one document and have the other.
        let openID = await document(at: locations.openID, profile, begin + limit * 2 / 3)
        let oauth = await document(at: locations.oauth, profile, begin + limit)
        var documents = [openID, oauth]
        if !documents.contains(where: { MetadataFetch.willPass($0) || (try? $0.get()) != nil }),
            let inserted = AuthorizationServerMetadata.insertedOpenIDLocation(of: issuer)
        {
            documents.append(await document(at: inserted, profile, begin + limit))
        }
        let found = documents.compactMap { try? $0.get() }
        guard !found.isEmpty else { throw MetadataFetch.worst(of: documents) }
        let isComplete = !documents.contains(where: MetadataFetch.willPass)
        let metadata: AuthorizationServerMetadata
        do throws(MetadataError) {
            metadata = try AuthorizationServerMetadata(
                issuer: issuer,
                template: profile?.issuerTemplate,
                documents: found.map(\.fields)
            ).amended(by: profile)
        } catch {
            // The document that is missing for now may be the right one.
            throw isComplete ? error : MetadataFetch.worst(of: documents)
        }
        return Result(
            metadata: metadata,
            serverDate: found.compactMap(\.serverDate).first,
            isComplete: isComplete,
            bodies: found.map(\.body)
        )
    }

    /// The metadata in kept documents; nil if they cannot be used.
    static func metadata(in kept: KeptMetadata, for key: MetadataCache.Key) -> AuthorizationServerMetadata? {
        try? AuthorizationServerMetadata(
            issuer: key.issuer,
            template: key.profile?.issuerTemplate,
            documents: kept.documents.compactMap { JSONTree.object(inAnswer: $0) }
        ).amended(by: key.profile)
    }

    /// The JSON document at `endpoint`.
    func document(
        at endpoint: Endpoint?,
        _ profile: ProviderProfile?,
        _ deadline: ContinuousClock.Instant
    ) async -> Document {
        guard let endpoint else { return .failure(.notPublished(status: 404)) }
        let headers: HeaderFields = ["accept": "application/json", "user-agent": configuration.userAgent]
        let request = HTTPTransport.Request(endpoint: endpoint, headers: headers, caFile: profile?.caFile)
        do throws(TransportFailure) {
            return read(try await transport.send(request, before: deadline), from: endpoint)
        } catch {
            let signal = FailureSignal(error, now: configuration.now())
            return .failure(.noAnswer(FailureTable.standard.row(for: signal)))
        }
    }

    private func read(_ answer: Answer, from endpoint: Endpoint) -> Document {
        let body = AnswerBody(answer)
        switch answer.status {
        case 200 where body.kind == .fields:
            return .success(Page(fields: body.fields, serverDate: answer.serverDate, body: answer.body))
        case 300...399:
            guard let place = FailureText.clean(answer.headers.first(name: "location")) else { fallthrough }
            let isElsewhere = answer.isRedirect(awayFrom: endpoint)
            return .failure(.redirected(status: answer.status, to: place, isElsewhere: isElsewhere))
        // Some servers answer each unknown path with their front page, others with 401.
        case 400...406, 410:
            return .failure(.notPublished(status: answer.status))
        default:
            return .failure(
                .unavailable(status: answer.status, retryAfter: answer.retryAfter(now: configuration.now()))
            )
        }
    }

    private static func willPass(_ document: Document) -> Bool {
        switch document {
        case .failure(let error): error.willPass
        case .success: false
        }
    }

    /// The failure to report: a temporary one is preferred to "not published".
    private static func worst(of documents: [Document]) -> MetadataError {
        let failures = documents.filter(willPass) + documents
        guard case .failure(let error)? = failures.first else { return .notPublished(status: 404) }
        return error
    }
}

/// The metadata documents of an issuer as last fetched, for use after a restart.
package struct KeptMetadata: Hashable, Sendable {
    /// The issuer of documents, and the certificate authorities with which they were fetched. Documents are not used
    /// with other authorities.
    package struct Place: Hashable, Sendable {
        package let issuer: Issuer
        /// The PEM file of a profile; nil for the authorities that are trusted for all servers.
        package let caFile: String?

        package init(issuer: Issuer, caFile: String?) {
            self.issuer = issuer
            self.caFile = caFile
        }
    }

    /// The documents in JSON, as the server sent them. Each use reads them by the same rules as fetched ones.
    package var documents: [[UInt8]]
    package var fetchedAt: Timestamp

    package init(documents: [[UInt8]], fetchedAt: Timestamp) {
        self.documents = documents
        self.fetchedAt = fetchedAt
    }

    /// The longest document that is kept, in bytes. Real ones have some KiB, with embedded keys up to 100 KiB.
    package static let bytesMax = 128 << 10
    /// How long documents are used after they were fetched. An endpoint that nobody has confirmed for a quarter of a
    /// year may belong to somebody else by now.
    package static let lifetime = Duration.seconds(90 * 86_400)
}

/// Keeps metadata across restarts of the process. Nothing in it is secret, because servers publish it.
package struct MetadataStore: Sendable {
    /// Finds the documents that were kept last; nil if there are none.
    let find: @Sendable (KeptMetadata.Place) async -> KeptMetadata?
    /// Keeps documents. Returns false if it does not, because no account has their issuer.
    let keep: @Sendable (KeptMetadata.Place, KeptMetadata) async -> Bool

    package init(
        find: @escaping @Sendable (KeptMetadata.Place) async -> KeptMetadata?,
        keep: @escaping @Sendable (KeptMetadata.Place, KeptMetadata) async -> Bool
    ) {
        self.find = find
        self.keep = keep
    }
}
