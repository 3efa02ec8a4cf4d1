import RefreshCore
import TestSupport
import Testing

@testable import OAuthMessages

/// One signal for each row. The corpus tests show the rows with real answers.
struct FailureTableTests {
    struct Example: Sendable, CustomTestStringConvertible {
        let row: String
        let signal: FailureSignal
        let failureClass: FailureClass

        var testDescription: String { row }
    }

    private static func lost(
        _ row: String,
        _ cause: TransportCause,
        sent: Bool,
        _ failureClass: FailureClass,
        signs: Set<FailureSign> = []
    ) -> Example {
        let signal = FailureSignal(transport: cause, wasSent: sent, signs: signs)
        return Example(row: row, signal: signal, failureClass: failureClass)
    }

    private static func answered(
        _ row: String,
        _ status: Int,
        _ failureClass: FailureClass,
        body: BodyKind = .fields,
        error: String? = nil,
        codes: Set<String> = [],
        signs: Set<FailureSign> = []
    ) -> Example {
        let signal = FailureSignal(status: status, body: body, error: error, codes: codes, signs: signs)
        return Example(row: row, signal: signal, failureClass: failureClass)
    }

    static let transportExamples = [
        lost("certificate, clock unset", .certificate, sent: false, .unreachable, signs: [.implausibleClock]),
        lost("certificate, clock unset", .certificateExpired, sent: false, .unreachable, signs: [.implausibleClock]),
        lost(
            "certificate, clock unset",
            .certificateNotYetValid,
            sent: false,
            .unreachable,
            signs: [.implausibleClock]
        ),
        lost("certificate", .certificate, sent: false, .untrusted),
        lost("certificate expired", .certificateExpired, sent: false, .untrusted),
        lost("certificate not yet valid", .certificateNotYetValid, sent: false, .untrusted),
        lost("certificate of another host", .certificateHost, sent: false, .untrusted),
        lost("certificate of another host", .certificateHost, sent: false, .untrusted, signs: [.implausibleClock]),
        lost("certificate of an unknown authority", .certificateAuthority, sent: false, .untrusted),
        lost("CA file", .authorityFile, sent: false, .misconfigured),
        lost("CA file hangs", .authorityFileHangs, sent: false, .unreachable),
        lost("assertion file", .assertionFile, sent: false, .unreachable),
        lost("assertion file hangs", .assertionFileHangs, sent: false, .unreachable),
        lost("assertion expired", .assertionExpired, sent: false, .unreachable),
        lost("client key", .clientKey, sent: false, .misconfigured),
        lost("client certificate", .clientCertificate, sent: false, .misconfigured),
        lost("client certificate demanded", .clientCertificateDemanded, sent: false, .misconfigured),
        lost("client certificate demanded", .clientCertificateDemanded, sent: true, .misconfigured),
        lost("request cannot be sent", .requestRefused, sent: false, .misconfigured),
        lost("proxy setting", .proxyConfiguration, sent: false, .misconfigured),
        lost("proxy wants sign-in", .proxySignIn, sent: false, .unavailable),
        lost("proxy refuses", .proxyRefused, sent: false, .unreachable),
        lost("proxy's name not resolved", .proxyNameResolution, sent: false, .unreachable),
        lost("proxy not connected", .proxyConnection, sent: false, .unreachable),
        lost("name not resolved", .nameResolution, sent: false, .unreachable),
        lost("not connected", .connection, sent: false, .unreachable),
        lost("no TLS version in common", .tlsProtocol, sent: false, .unreachable),
        lost("handshake failed", .tls, sent: false, .unreachable),
        lost("not sent in time", .timeLimit, sent: false, .unreachable),
        lost("not sent", .connectionLost, sent: false, .unreachable),
        lost("not sent", .other, sent: false, .unreachable),
        lost("not answered in time", .timeLimit, sent: true, .unanswered),
        lost("answer lost", .connectionLost, sent: true, .unanswered),
        lost("answer lost", .connection, sent: true, .unanswered),
        lost("answer lost", .tls, sent: true, .unanswered),
        lost("answer lost", .nameResolution, sent: true, .unanswered),
        lost("answer lost", .proxyRefused, sent: true, .unanswered),
        lost("answer lost", .proxyConnection, sent: true, .unanswered),
        lost("answer lost", .tlsProtocol, sent: true, .unanswered),
        lost("answer lost", .other, sent: true, .unanswered),
    ]

    static let gatewayExamples = [
        answered("redirect elsewhere", 302, .unavailable, signs: [.redirectElsewhere]),
        answered("redirect", 308, .misconfigured),
        answered("407", 407, .unavailable, error: "invalid_grant"),
        answered("429", 429, .unavailable, error: "invalid_grant"),
        answered("server too busy to listen", 408, .unavailable),
        answered("server too busy to listen", 425, .unavailable),
        answered("gateway lost the answer", 502, .unanswered, body: .html),
        answered("gateway lost the answer", 504, .unanswered, error: "invalid_grant"),
        answered("5xx", 500, .unanswered, error: "invalid_grant"),
        answered("503 until later", 503, .unavailable, error: "invalid_grant", signs: [.retryAfter]),
        answered("5xx", 503, .unanswered),
        answered("5xx", 500, .unanswered, signs: [.retryAfter]),
        answered("gateway lost the answer", 502, .unanswered, signs: [.retryAfter]),
        answered("5xx", 0, .unanswered, body: .html),
        answered("5xx", 600, .unanswered, error: "invalid_grant"),
        answered("5xx", 522, .unanswered),
        answered("request cannot have arrived", 511, .unavailable, body: .html),
        answered("request cannot have arrived", 521, .unavailable),
        answered("request cannot have arrived", 526, .unavailable, body: .html),
        answered("success too large", 200, .unanswered, body: .tooLarge),
        answered("answer too large", 400, .unavailable, body: .tooLarge),
    ]

    static let codeExamples = [
        answered("profile's word for invalid_grant", 400, .grantEnded, body: .empty, signs: [.grantEnded]),
        answered("another factor", 403, .userRequired, error: "mfa_required"),
        answered("consent", 400, .userRequired, error: "consent_required"),
        answered("access policy", 400, .refusedHere, error: "interaction_required", codes: ["message_only"]),
        answered("administrator's policy", 400, .refusedHere, error: "admin_policy_enforced"),
        answered("session control", 400, .userRequired, error: "invalid_grant", codes: ["invalid_rapt"]),
        answered("claims challenge", 400, .userRequired, error: "invalid_grant", signs: [.claimsChallenge]),
        answered("policy's grant too old", 400, .grantEnded, error: "invalid_grant", codes: ["aadb2c90080"]),
        answered(
            "refresh token called dead",
            400,
            .grantEnded,
            error: "invalid_request",
            signs: [
                .refreshTokenCalledDead
            ]
        ),
        answered("other policy", 400, .grantEnded, error: "invalid_grant", codes: ["aadb2c90088"]),
        answered("cannot serve now", 400, .unavailable, error: "temporarily_unavailable"),
        answered("user required", 400, .userRequired, error: "login_required"),
        answered("refresh denied", 400, .refusedHere, error: "access_denied", signs: [.refreshDenied]),
        answered("grant ended", 400, .grantEnded, error: "invalid_grant"),
        answered("grant ended", 400, .grantEnded, codes: ["invalid_grant"]),
        answered("grant ended", 401, .grantEnded, error: "invalid_grant"),
        answered("grant ended", 200, .grantEnded, error: "invalid_grant"),
        answered("provider's word for invalid_grant", 200, .grantEnded, error: "bad_refresh_token"),
        answered("provider's word for invalid_grant", 401, .grantEnded, error: "invalid_token"),
        answered(
            "request refused that worked before",
            400,
            .rejected,
            error: "invalid_request",
            signs: [.workedBefore]
        ),
        answered(
            "client not authenticated",
            401,
            .misconfigured,
            error: "unauthorized_client",
            signs: [.workedBefore]
        ),
        answered(
            "request refused that worked before",
            403,
            .rejected,
            error: "unauthorized_client",
            signs: [.workedBefore]
        ),
        answered("client refused", 401, .misconfigured, error: "invalid_client", signs: [.workedBefore]),
        answered("client refused", 401, .misconfigured, error: "deleted_client"),
        answered("client may not", 400, .misconfigured, error: "unauthorized_client"),
        answered("nonce wanted again", 400, .unavailable, error: "use_dpop_nonce", signs: [.showedProof]),
        answered("request refused", 400, .misconfigured, error: "use_dpop_nonce"),
        answered("request refused", 400, .misconfigured, error: "invalid_request"),
        answered("request refused", 400, .misconfigured, error: "invalid_scope", signs: [.workedBefore]),
    ]

    private static func entra(_ row: String, _ code: Int, _ failureClass: FailureClass, error: String? = nil) -> Example
    {
        answered("Entra: " + row, 400, failureClass, error: error ?? "invalid_grant", codes: ["aadsts\(code)"])
    }

    static let entraExamples = [
        entra("provider is busy", 90033, .unavailable),
        entra("secret of a public client", 700025, .misconfigured, error: "invalid_client"),
        entra("no public client", 7000218, .misconfigured, error: "invalid_client"),
        entra("disabled app", 7000112, .misconfigured, error: "unauthorized_client"),
        entra("single-page app", 9002327, .misconfigured, error: "invalid_request"),
        entra("no single-page app", 9002326, .misconfigured, error: "invalid_request"),
        entra("unknown app", 700016, .misconfigured, error: "unauthorized_client"),
        entra("other tenant", 50194, .misconfigured, error: "invalid_request"),
        entra("permissions of the app", 650057, .misconfigured, error: "invalid_resource"),
        entra("client's own credential", 500133, .misconfigured),
        entra("another factor", 50076, .userRequired),
        entra("consent", 65001, .userRequired),
        entra("administrator's consent", 90094, .refusedHere),
        entra("locked user", 50053, .refusedHere),
        entra("disabled user", 50057, .refusedHere),
        entra("user not assigned", 50105, .refusedHere),
        entra("risk", 53011, .refusedHere),
        entra("device", 50005, .refusedHere),
        entra("device", 50097, .refusedHere),
        entra("device", 530003, .refusedHere, error: "interaction_required"),
        entra("device codes", 530033, .refusedHere),
        entra("access policy", 53003, .refusedHere),
        entra("access policy", 53010, .refusedHere),
        // Not documented, but of the same kind.
        entra("access policy", 530_042, .refusedHere),
        entra("access policy", 500_021, .refusedHere),
        entra("password to change", 50055, .userRequired),
        entra("sign-in frequency", 70043, .grantEnded),
        entra("grant too old", 700082, .grantEnded),
        entra("password changed", 50173, .grantEnded),
    ]

    static let codelessExamples = [
        answered("page instead of the endpoint", 404, .unavailable, body: .html),
        answered("page", 403, .unavailable, body: .html),
        answered("success as a page", 200, .unanswered, body: .html),
        answered("page that refuses", 403, .refusedByGateway, body: .html, signs: [.workedBefore]),
        answered("gateway refuses", 403, .refusedByGateway, signs: [.gatewayMessage]),
        answered("no such endpoint", 405, .misconfigured, body: .empty),
        answered("no such endpoint", 404, .misconfigured, error: "not_found"),
        answered("request form refused", 415, .misconfigured),
        answered("come back later", 403, .unavailable, signs: [.retryAfter]),
        answered("client challenged", 401, .misconfigured, body: .empty, signs: [.clientChallenge, .workedBefore]),
        answered("client challenged", 401, .misconfigured, body: .other, signs: [.clientChallenge]),
        answered(
            "client challenged as unauthorized",
            401,
            .misconfigured,
            error: "unauthorized",
            signs: [.clientChallenge, .workedBefore]
        ),
        answered("unknown code", 401, .rejected, error: "odd", signs: [.clientChallenge, .workedBefore]),
        answered("unknown code", 401, .rejected, error: "unauthorized", signs: [.workedBefore]),
        answered("unknown code", 400, .rejected, error: "odd"),
        answered("unknown code", 200, .rejected, error: "odd"),
        answered("refused without a code", 400, .rejected, body: .empty),
        answered("refused without a code", 403, .rejected),
        answered("success without tokens", 200, .unanswered, body: .other),
        answered("success without tokens", 204, .unanswered, body: .empty),
        answered("success without tokens", 101, .unanswered, body: .empty),
        answered("success without tokens", 101, .unanswered, body: .html),
        answered("anything else", 418, .unavailable),
        answered("anything else", 400, .unavailable, body: .other),
        answered("anything else", 451, .unavailable, error: "odd"),
    ]

    static let examples =
        transportExamples + gatewayExamples + entraExamples + codeExamples + codelessExamples

    @Test(arguments: examples)
    func `each observation is matched by its row`(_ example: Example) {
        let row = FailureTable.standard.row(for: example.signal)
        #expect(row.name == example.row)
        #expect(row.failureClass == example.failureClass)
    }

    @Test func `every row has an example and a unique name`() {
        let names = FailureTable.standard.rows.map(\.name)
        #expect(Set(names) == Set(Self.examples.map(\.row)))
        #expect(Set(names).count == names.count)
    }

    @Test func `summaries are plain lower-case sentences without a full stop`() {
        for row in FailureTable.standard.rows {
            #expect(MessageForm.flaws(ofMessage: row.summary, names: ["HTTPS_PROXY"]) == [], "\(row.name)")
        }
    }

    @Test func `only answers of the authorization server end a grant`() {
        let ending: Set<FailureClass> = [.grantEnded, .userRequired, .refusedHere, .rejected, .refusedByGateway]
        let statuses = (0...999).filter { !(200...299).contains($0) && !(400...499).contains($0) }
        for status in statuses {
            for body in BodyKind.allCases {
                for error in [nil, "invalid_grant", "login_required", "odd"] {
                    let signal = FailureSignal(status: status, body: body, error: error, codes: ["aadsts70043"])
                    #expect(!ending.contains(FailureTable.standard.row(for: signal).failureClass))
                }
            }
        }
        for cause in TransportCause.allCases {
            for wasSent in [false, true] {
                let signal = FailureSignal(transport: cause, wasSent: wasSent, error: "invalid_grant")
                #expect(!ending.contains(FailureTable.standard.row(for: signal).failureClass))
            }
        }
    }

    @Test func `a request that may have been sent is never reported as unreachable`() {
        for cause in TransportCause.allCases {
            let row = FailureTable.standard.row(for: FailureSignal(transport: cause, wasSent: true))
            #expect(row.failureClass != .unreachable)
        }
    }

    @Test func `no certificate is reported as invalid while the clock is unset`() {
        let failure = TransportFailure(cause: .certificate, wasSent: false)
        let unset = FailureSignal(failure, now: Timestamp(microseconds: 86_400_000_000))
        let set = FailureSignal(failure, now: Timestamp(microseconds: 1_795_255_200_000_000))
        #expect(FailureTable.standard.row(for: unset).failureClass == .unreachable)
        #expect(FailureTable.standard.row(for: set).failureClass == .untrusted)
    }

    @Test(arguments: EndpointRole.allCases)
    func `the texts about other endpoints than the token endpoint name those`(_ role: EndpointRole) {
        for row in FailureTable.standard.rows {
            let told = row.told(of: role)
            #expect(MessageForm.flaws(ofMessage: told.summary, names: ["HTTPS_PROXY"]) == [], "\(row.name)")
            #expect(told.failureClass == row.failureClass && told.consequence == row.consequence)
            guard role != .token else { continue }
            #expect(!told.summary.contains("token endpoint") && !told.summary.contains("access token"))
            #expect(
                (told.summary != row.summary)
                    == (row.summary.contains("token endpoint") || row.summary.contains("access token"))
            )
        }
    }
}
