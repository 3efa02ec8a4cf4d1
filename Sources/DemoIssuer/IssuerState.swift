internal import NIOHTTP1

/// The server's whole state, and the answers of each endpoint. It is synchronous and has no sockets and no clock.
///
/// A token request goes through three steps, so that the caller can wait between them: `admit` when it arrives,
/// `answer` when it is served, and `release` when its answer is about to be sent or the connection has closed.
struct IssuerState {
    var ledger: GrantLedger
    var faults = FaultQueue()
    var desk = SignInDesk()
    let signer = IDTokenSigner()
    var log = RequestLog()
    /// What the clock in `Date` headers is ahead by.
    var dateOffset = Duration.zero
    /// The issuer identifier (RFC 8414 §2), set when the port is known.
    var issuer = ""
    var clients: [String: DemoClient]
    /// The numbers of the token requests in flight, by family.
    private var inFlight: [Int: Set<Int>] = [:]
    private var lastAdmission = 0
    /// The `token_type` in the answer to the current request (RFC 9449 §5).
    var tokenType = "Bearer"
    /// The IDs of the assertions that were used. Each is valid once (RFC 7523 §3).
    var shownAssertions: Set<String> = []

    init(_ configuration: IssuerConfiguration) {
        ledger = GrantLedger(policy: configuration.policy)
        clients = Dictionary(configuration.clients.map { ($0.id, $0) }) { _, last in last }
    }

    /// A request that has arrived, with its scripted fault.
    struct Admission {
        /// The request's number, from 1.
        let number: Int
        let request: Request
        /// The form; nil if the body is not a form.
        let form: FormFields?
        let plan: Fault
        var draft: RequestLog.Draft
    }

    /// Registers a request. Only token requests get faults and count as in flight.
    mutating func admit(_ request: Request) -> Admission {
        let form = request.method == .POST ? FormFields(request.body) : nil
        var draft = RequestLog.Draft(path: request.path)
        lastAdmission += 1
        let number = lastAdmission
        guard request.method == .POST, request.path == "/token" else {
            return Admission(number: number, request: request, form: form, plan: .none, draft: draft)
        }
        draft.grantType = form?["grant_type"]
        draft.clientID = form.flatMap { ClientCredentials(request, $0) }.flatMap(registration)?.id
        draft.position = form?["refresh_token"].flatMap(ledger.position)
        draft.fault = faults.next()
        if let family = draft.position?.family {
            draft.overlaps = inFlight[family] != nil
            inFlight[family, default: []].insert(number)
        }
        log.countArrival(overlaps: draft.overlaps)
        let isSpared = draft.fault?.name == Fault.cutReused.name && !request.isReused
        let plan = isSpared ? nil : draft.fault
        return Admission(number: number, request: request, form: form, plan: plan ?? .none, draft: draft)
    }

    /// Serves a registered request.
    mutating func answer(_ admission: Admission, at now: Duration) -> Answer {
        guard admission.plan.isServed else {
            note(admission.draft, .notServed, at: now)
            return admission.plan.replacement ?? .noContent
        }
        let served = route(admission, at: now)
        return admission.plan.replacement ?? admission.plan.expiresIn.map(served.stating) ?? served
    }

    /// Marks the request as no longer in flight. A second call does nothing.
    mutating func release(_ admission: Admission) {
        guard let family = admission.draft.position?.family else { return }
        inFlight[family]?.remove(admission.number)
        if inFlight[family]?.isEmpty == true { inFlight[family] = nil }
    }

    mutating func note(_ draft: RequestLog.Draft, _ outcome: LogEntry.Outcome, at now: Duration) {
        log.append(draft, outcome: outcome, at: now)
    }

    mutating func issueGrant(clientID: String, subject: String, scope: String) -> IssuedGrant {
        ledger.issueGrant(clientID: clientID, subject: subject, scope: scope)
    }

    /// Issues a grant with its first tokens, after a person has consented.
    mutating func openGrant(clientID: String, subject: String, scope: String, at now: Duration) -> IssuedTokens {
        let granted = scope.split(separator: " ").filter { !ledger.policy.declinedScopes.contains(String($0)) }
        return ledger.openGrant(
            clientID: clientID,
            subject: subject,
            scope: granted.joined(separator: " "),
            at: now
        )
    }

    func client(_ id: String) -> DemoClient? { clients[id] }

    private mutating func route(_ admission: Admission, at now: Duration) -> Answer {
        let method = admission.request.method
        switch admission.request.path {
        case "/.well-known/openid-configuration", "/.well-known/oauth-authorization-server":
            return method == .GET ? metadata() : .methodNotAllowed(allowed: "GET")
        case "/userinfo":
            return method == .GET ? userInfo(admission, at: now) : .methodNotAllowed(allowed: "GET")
        case "/jwks":
            return method == .GET ? signer.keySet : .methodNotAllowed(allowed: "GET")
        case "/authorize":
            return method == .GET ? authorization(admission, at: now) : .methodNotAllowed(allowed: "GET")
        case "/authorize/decision":
            return method == .POST ? decision(admission, at: now) : .methodNotAllowed(allowed: "POST")
        case "/end_session":
            return method == .GET ? sessionEnd(admission, at: now) : .methodNotAllowed(allowed: "GET")
        case "/device_authorization":
            return method == .POST ? deviceAuthorization(admission, at: now) : .methodNotAllowed(allowed: "POST")
        case "/device":
            return devicePage(admission, at: now)
        case "/register":
            return method == .POST ? registration(admission, at: now) : .methodNotAllowed(allowed: "POST")
        case let path where path.hasPrefix("/register/"):
            return managedRegistration(admission, at: now)
        case "/token":
            return method == .POST ? token(admission, at: now) : .methodNotAllowed(allowed: "POST")
        case "/revoke":
            return method == .POST ? revocation(admission, at: now) : .methodNotAllowed(allowed: "POST")
        case "/introspect":
            return method == .POST ? introspection(admission, at: now) : .methodNotAllowed(allowed: "POST")
        case let path where path.hasPrefix("/admin/"):
            return administration(admission.request)
        default:
            return .notFound
        }
    }

    /// The client that has these credentials; nil if they are wrong.
    func authenticate(_ credentials: ClientCredentials, at now: Duration) -> DemoClient? {
        registration(credentials).flatMap { $0.accepts(credentials, for: audiences, at: now) ? $0 : nil }
    }

    private func registration(_ credentials: ClientCredentials) -> DemoClient? {
        credentials.possibleIDs.lazy.compactMap { clients[$0] }.first
    }
}
