internal import NIOHTTP1

// The administration interface: forms in, JSON out, so that curl and a scripting language's own library are enough.
//
//     POST   /admin/grants                            client_id subject scope [count] -> the grants, refresh tokens included
//     GET    /admin/grants/N                          -> the grant's generation and whether it stands
//     POST   /admin/grants/N/revoke                   -> ends the grant
//     POST   /admin/grants/N/revoke-access-tokens     -> takes its access tokens back
//     POST   /admin/policy                            fields as in `setPolicy`; those not given stay
//     POST   /admin/faults                            fields as in `scriptFault`
//     DELETE /admin/faults
//     POST   /admin/clock                             date_offset_ms
//     GET    /admin/counters
//     GET    /admin/log[?after=SEQUENCE][&wait_ms=N]  (waiting is the shell's part)
extension IssuerState {
    /// The most grants per administrative request. A million take a hundred requests.
    static let grantsPerRequest = 10_000

    /// Answers an administrative request.
    mutating func administration(_ request: Request, at now: Duration) -> Answer {
        let path = request.path.split(separator: "/").dropFirst().map(String.init)
        guard let form = FormFields(request.method == .GET ? Array(request.query.utf8) : request.body) else {
            return Self.badForm("the form is badly encoded, or a field is doubled")
        }
        switch (request.method, path.first, path.count) {
        case (.POST, "grants", 1): return issueGrants(form, at: now)
        case (.GET, "grants", 2): return grant(path[1])
        case (.POST, "grants", 3): return change(grant: path[1], path[2])
        case (.POST, "policy", 1): return setPolicy(form)
        case (.POST, "faults", 1): return scriptFault(form)
        case (.DELETE, "faults", 1):
            faults.clear()
            return .noContent
        case (.POST, "clock", 1): return setClock(form)
        case (.GET, "counters", 1): return .json(log.counters)
        case (.GET, "log", 1): return .json(Array(log.entries(after: form["after"].flatMap { Int($0) } ?? 0)))
        default: return .notFound
        }
    }

    private mutating func issueGrants(_ form: FormFields, at now: Duration) -> Answer {
        guard let clientID = form["client_id"], client(clientID) != nil else {
            return Self.badForm("client_id is unknown")
        }
        guard let count = Int(form["count"] ?? "1"), (1...Self.grantsPerRequest).contains(count) else {
            return Self.badForm("count must be 1 to \(Self.grantsPerRequest)")
        }
        let issued = (0..<count).map { _ in
            issueGrant(clientID: clientID, subject: form["subject"] ?? "alice", scope: form["scope"] ?? "demo", at: now)
        }
        return .json(["grants": issued], status: 201)
    }

    private func grant(_ number: String) -> Answer {
        Int(number).flatMap(ledger.summary).map { .json($0) } ?? .notFound
    }

    private mutating func change(grant number: String, _ verb: String) -> Answer {
        guard let family = Int(number) else { return .notFound }
        switch verb {
        case "revoke": return ledger.revokeGrant(family) ? .noContent : .notFound
        case "revoke-access-tokens": return ledger.revokeAccessTokens(family) ? .noContent : .notFound
        default: return .notFound
        }
    }

    /// Sets the policy.
    ///
    /// `access_token_lifetime_ms`, `refresh_token_lifetime_ms` (a number or `none`) and `grace_period_ms` are numbers.
    /// `known_targets` is `any`, or URIs and audiences separated by spaces. `rotation`, `reuse_detection`, `id_tokens`
    /// (with refreshes) and `report_refresh_token_lifetime` are `on` or `off`.
    private mutating func setPolicy(_ form: FormFields) -> Answer {
        var policy = ledger.policy
        let isValid =
            Self.read(form["access_token_lifetime_ms"], Self.milliseconds, into: &policy.accessTokenLifetime)
            && Self.read(
                form["refresh_token_lifetime_ms"],
                Self.optionalMilliseconds,
                into: &policy.refreshTokenLifetime
            )
            && Self.read(form["grace_period_ms"], Self.milliseconds, into: &policy.gracePeriod)
            && Self.read(form["rotation"], Self.toggle, into: &policy.isRotating)
            && Self.read(form["reuse_detection"], Self.toggle, into: &policy.detectsReuse)
            && Self.read(form["id_tokens"], Self.toggle, into: &policy.refreshesIDTokens)
            && Self.read(form["known_targets"], Self.targets, into: &policy.knownTargets)
            && Self.read(form["report_refresh_token_lifetime"], Self.toggle, into: &policy.reportsRefreshTokenLifetime)
        guard isValid else { return Self.badForm("a field of the policy has a wrong value") }
        ledger.policy = policy
        return .noContent
    }

    /// Scripts a fault.
    ///
    /// The fields are `fault` (a name as in `Fault.name`), `times` (a number or `until-cleared`), and the fault's
    /// arguments: `delay_ms`, `byte_count`, `expires_in`, or `status`, `headers` (one per line) and `body`.
    private mutating func scriptFault(_ form: FormFields) -> Answer {
        guard let fault = Fault(form) else { return Self.badForm("the fault is unknown, or lacks a field") }
        let times = form["times"] ?? "1"
        guard times == "until-cleared" || Int(times).map({ $0 > 0 }) == true else {
            return Self.badForm("times must be a positive number or until-cleared")
        }
        guard !faults.isFull else { return Answer(status: 409, text: "too many faults are scripted\n") }
        faults.append(fault, times: Int(times))
        return .noContent
    }

    private mutating func setClock(_ form: FormFields) -> Answer {
        guard let offset = form["date_offset_ms"].flatMap({ Int($0) }) else {
            return Self.badForm("date_offset_ms must be a number")
        }
        dateOffset = .milliseconds(offset)
        return .noContent
    }

    /// Reads a field into `value`, which stays unchanged if the field is missing; false if the field is invalid.
    private static func read<Value>(_ field: String?, _ parse: (String) -> Value?, into value: inout Value) -> Bool {
        guard let field else { return true }
        guard let parsed = parse(field) else { return false }
        value = parsed
        return true
    }

    private static func milliseconds(_ text: String) -> Duration? {
        Int(text).flatMap { $0 >= 0 ? .milliseconds($0) : nil }
    }

    private static func optionalMilliseconds(_ text: String) -> Duration?? {
        text == "none" ? .some(nil) : milliseconds(text).map { .some($0) }
    }

    private static func targets(_ text: String) -> Set<String>?? {
        .some(text == "any" ? nil : Set(text.split(separator: " ").map(String.init)))
    }

    private static func toggle(_ text: String) -> Bool? {
        switch text {
        case "on": true
        case "off": false
        default: nil
        }
    }

    private static func badForm(_ reason: String) -> Answer {
        Answer(status: 400, headers: [("Content-Type", "text/plain")], text: reason + "\n")
    }
}

extension Fault {
    /// Reads a fault from a form; nil if its name is unknown or a required field is missing.
    fileprivate init?(_ form: FormFields) {
        let delay = form["delay_ms"].flatMap { Int($0) }.flatMap { $0 >= 0 ? Duration.milliseconds($0) : nil }
        switch (form["fault"], delay) {
        case ("answer", _):
            guard let canned = CannedAnswer(form) else { return nil }
            self = .answer(canned)
        case ("replace-answer", _):
            guard let canned = CannedAnswer(form) else { return nil }
            self = .replaceAnswer(canned)
        case ("delay-before", let delay?): self = .delayBefore(delay)
        case ("delay-after", let delay?): self = .delayAfter(delay)
        case ("cut-before", _): self = .cutBefore
        case ("cut-after", _): self = .cutAfter
        case ("truncate", _): self = .truncate
        case ("drip", let delay?): self = .drip(delay)
        case ("reset", _): self = .reset
        case ("double", _): self = .double
        case ("cut-reused", _): self = .cutReused
        case ("endless", _): self = .endless
        case ("expires-in", _):
            guard let json = form["expires_in"] else { return nil }
            self = .expiresIn(json)
        case ("huge", _):
            guard let byteCount = form["byte_count"].flatMap({ Int($0) }), byteCount > 0 else { return nil }
            self = .huge(byteCount: byteCount)
        default: return nil
        }
    }
}

extension CannedAnswer {
    fileprivate init?(_ form: FormFields) {
        guard let status = form["status"].flatMap({ Int($0) }), (200...599).contains(status) else { return nil }
        var headers: [String: String] = [:]
        for line in (form["headers"] ?? "").split(whereSeparator: \.isNewline) {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            headers[String(line[..<colon])] = String(line[line.index(after: colon)...].drop { $0 == " " })
        }
        self.init(status: status, headers: headers, body: form["body"] ?? "")
    }
}
