internal import NIOHTTP1

// The administration interface: forms in, JSON out, so that curl and a scripting language's own library are enough.
//
//     POST   /admin/grants                            client_id subject scope -> the grant, refresh token included
//     GET    /admin/grants/N                          -> the grant's generation and whether it stands
//     POST   /admin/grants/N/revoke                   -> ends the grant
//     POST   /admin/grants/N/revoke-access-tokens     -> takes its access tokens back
//     POST   /admin/policy                            fields as in `setPolicy`; those not given stay
//     POST   /admin/faults                            fields as in `scriptFault`
//     DELETE /admin/faults
//     GET    /admin/counters
//     GET    /admin/log[?after=SEQUENCE][&wait_ms=N]  (waiting is the shell's part)
extension IssuerState {
    /// Answers an administrative request.
    mutating func administration(_ request: Request) -> Answer {
        let path = request.path.split(separator: "/").dropFirst().map(String.init)
        guard let form = FormFields(request.method == .GET ? Array(request.query.utf8) : request.body) else {
            return Self.badForm("the form is badly encoded, or a field is doubled")
        }
        switch (request.method, path.first, path.count) {
        case (.POST, "grants", 1): return issueGrant(form)
        case (.GET, "grants", 2): return grant(path[1])
        case (.POST, "grants", 3): return change(grant: path[1], path[2])
        case (.POST, "policy", 1): return setPolicy(form)
        case (.POST, "faults", 1): return scriptFault(form)
        case (.DELETE, "faults", 1):
            faults.clear()
            return .noContent
        case (.GET, "counters", 1): return .json(log.counters)
        case (.GET, "log", 1): return .json(Array(log.entries(after: form["after"].flatMap { Int($0) } ?? 0)))
        default: return .notFound
        }
    }

    private mutating func issueGrant(_ form: FormFields) -> Answer {
        guard let clientID = form["client_id"], client(clientID) != nil else {
            return Self.badForm("client_id is unknown")
        }
        let (subject, scope) = (form["subject"] ?? "alice", form["scope"] ?? "demo")
        let grant = issueGrant(clientID: clientID, subject: subject, scope: scope)
        return .json(["grants": [grant]], status: 201)
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
    /// `access_token_lifetime_ms` is a number. `rotation` and `id_tokens` (with refreshes) are `on` or `off`.
    private mutating func setPolicy(_ form: FormFields) -> Answer {
        var policy = ledger.policy
        let isValid =
            Self.read(form["access_token_lifetime_ms"], Self.milliseconds, into: &policy.accessTokenLifetime)
            && Self.read(form["rotation"], Self.toggle, into: &policy.isRotating)
            && Self.read(form["id_tokens"], Self.toggle, into: &policy.refreshesIDTokens)
        guard isValid else { return Self.badForm("a field of the policy has a wrong value") }
        ledger.policy = policy
        return .noContent
    }

    /// Scripts a fault.
    ///
    /// The fields are `fault` with its argument (`answer` with `status`, or `delay-after` with `delay_ms`), and `times` (a
    /// number or `until-cleared`).
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
    /// Reads a fault from a form; nil if its name is unknown or its argument is missing.
    fileprivate init?(_ form: FormFields) {
        switch form["fault"] {
        case "answer":
            guard let status = form["status"].flatMap({ Int($0) }), (200...599).contains(status) else { return nil }
            self = .answer(CannedAnswer(status: status))
        case "delay-after":
            guard let delay = form["delay_ms"].flatMap({ Int($0) }), delay >= 0 else { return nil }
            self = .delayAfter(.milliseconds(delay))
        default: return nil
        }
    }
}
