internal import NIOHTTP1

/// All that the server knows, and what each endpoint answers: synchronous, without sockets and without a clock.
///
/// A token request passes through in three steps, so that the shell can wait between them: `admit` when it has arrived,
/// `answer` when it is served, `release` when its answer is about to leave or the connection is gone.
struct IssuerState {
    var ledger: GrantLedger
    var faults = FaultQueue()
    var desk = SignInDesk()
    let signer = IDTokenSigner()
    var log = RequestLog()
    var dateOffset: Duration
    /// The issuer identifier (RFC 8414 §2), known once the port is.
    var issuer = ""
    let isAdministrable: Bool
    var clients: [String: DemoClient]
    /// The numbers of the token requests in flight, by family.
    private var inFlight: [Int: Set<Int>] = [:]
    /// Where in the log the served requests stand whose answer has not left yet.
    private var unanswered: [Int: Int] = [:]
    private var lastAdmission = 0
    var generator = SystemRandomNumberGenerator()
    /// `token_type` of what the request that is served brings (RFC 9449 §5).
    var tokenType = "Bearer"
    /// The names of the assertions that were shown; each is good once (RFC 7523 §3).
    var shownAssertions: Set<String> = []

    init(_ configuration: IssuerConfiguration) {
        ledger = GrantLedger(policy: configuration.policy)
        dateOffset = configuration.dateOffset
        isAdministrable = configuration.isAdministrable
        clients = Dictionary(configuration.clients.map { ($0.id, $0) }) { _, last in last }
    }

    /// A request that has arrived, with the fault it drew.
    struct Admission {
        /// Tells requests apart; counted from 1.
        let number: Int
        let request: Request
        /// nil for a body that is no form.
        let form: FormFields?
        let plan: Fault.Plan
        var draft: RequestLog.Draft
    }

    /// Takes a request in. Only token requests draw faults and count as in flight.
    mutating func admit(_ request: Request) -> Admission {
        let form = request.method == .POST ? FormFields(request.body) : nil
        var draft = RequestLog.Draft(path: request.path)
        lastAdmission += 1
        let number = lastAdmission
        guard request.method == .POST, request.path == "/token" else {
            return Admission(number: number, request: request, form: form, plan: Fault.Plan(), draft: draft)
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
        let plan = draft.fault?.plan(isReused: request.isReused) ?? Fault.Plan()
        return Admission(number: number, request: request, form: form, plan: plan, draft: draft)
    }

    /// Serves an admitted request.
    mutating func answer(_ admission: Admission, at now: Duration) -> Answer {
        guard admission.plan.isServed else {
            note(admission.draft, .notServed, at: now)
            return admission.plan.replacement ?? .noContent
        }
        let served = route(admission, at: now)
        unanswered[admission.number] = log.lastSequence
        return admission.plan.replacement ?? admission.plan.expiresIn.map(served.stating) ?? served
    }

    /// Forgets that the request is in flight; a second time does nothing.
    mutating func release(_ admission: Admission, at now: Duration) {
        if let sequence = unanswered.removeValue(forKey: admission.number) { log.noteAnswered(sequence, at: now) }
        guard let family = admission.draft.position?.family else { return }
        inFlight[family]?.remove(admission.number)
        if inFlight[family]?.isEmpty == true { inFlight[family] = nil }
    }

    mutating func note(_ draft: RequestLog.Draft, _ outcome: LogEntry.Outcome, at now: Duration) {
        log.append(draft, outcome: outcome, at: now)
    }

    mutating func issueGrant(clientID: String, subject: String, scope: String, at now: Duration) -> IssuedGrant {
        ledger.issueGrant(clientID: clientID, subject: subject, scope: scope, at: now, using: &generator)
    }

    /// Gives a client a grant because a person has consented, with its first tokens.
    mutating func openGrant(clientID: String, subject: String, scope: String, at now: Duration) -> IssuedTokens {
        let granted = scope.split(separator: " ").filter { !ledger.policy.declinedScopes.contains(String($0)) }
        return ledger.openGrant(
            clientID: clientID,
            subject: subject,
            scope: granted.joined(separator: " "),
            at: now,
            using: &generator
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
        case let path where path.hasPrefix("/admin/") && isAdministrable:
            return administration(admission.request, at: now)
        default:
            return .notFound
        }
    }

    /// The client that the credentials are accepted for; nil when they are not.
    func authenticate(_ credentials: ClientCredentials, at now: Duration) -> DemoClient? {
        let check = assertionCheck(at: now)
        return registration(credentials).flatMap { $0.accepts(credentials, check) ? $0 : nil }
    }

    private func registration(_ credentials: ClientCredentials) -> DemoClient? {
        credentials.possibleIDs.lazy.compactMap { clients[$0] }.first
    }
}
