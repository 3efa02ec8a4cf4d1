import RefreshCore
import Testing

@testable import OAuthMessages

/// Entra's shared authorities: the account has one issuer, and the tokens of each tenant have another.
@Suite struct TenantIssuerTests {
    private static let template = "https://login.microsoftonline.com/{tenantid}/v2.0"
    private static let tenant = "72f988bf-86f1-41af-91ab-2d7cd011db47"
    private static let other = "9188040d-6c67-4c5b-b112-36a304b66dad"

    private static func issuer(_ tenant: String) -> String {
        "https://login.microsoftonline.com/\(tenant)/v2.0"
    }

    private func validate(
        at authority: String,
        iss: String,
        tid: String?,
        key rest: String = #","kid":"k1""#
    ) throws -> IDToken {
        let key = try Forge.key(.rs256)
        var validation = IDTokenValidation(issuer: try Issuer(url: Self.issuer(authority)), clientID: Forge.clientID)
        validation.issuerTemplate = Self.template
        let claims = Forge.claims(["iss": "\"\(iss)\"", "tid": tid.map { "\"\($0)\"" }])
        return try validation.validate(
            Forge.token(key, claims: claims),
            keys: Forge.keySet(key, rest: rest),
            now: Forge.now
        )
    }

    @Test(arguments: ["common", "organizations", "contoso.onmicrosoft.com"])
    func `a shared authority's token belongs to the tenant that it names`(authority: String) throws {
        let token = try validate(at: authority, iss: Self.issuer(Self.tenant), tid: Self.tenant)
        #expect(token.tenant == Self.tenant)
    }

    @Test func `an issuer that does not match the tenant is refused`() {
        let iss = Self.issuer(Self.tenant)
        for tid in [nil, Self.other, "", "{tenantid}", "x/../\(Self.tenant)"] {
            #expect(throws: JOSEError.wrongIssuer(iss)) { try validate(at: "common", iss: iss, tid: tid) }
        }
        #expect(throws: JOSEError.wrongIssuer(Self.template)) {
            try validate(at: "common", iss: Self.template, tid: "{tenantid}")
        }
        let odd = "evil.example/" + Self.tenant
        #expect(throws: JOSEError.wrongIssuer(Self.issuer(odd))) {
            try validate(at: "common", iss: Self.issuer(odd), tid: odd)
        }
    }

    @Test func `an account at one tenant accepts no other tenant's token`() throws {
        let token = try validate(at: Self.tenant, iss: Self.issuer(Self.tenant), tid: Self.tenant)
        #expect(token.issuer == Self.issuer(Self.tenant))
        #expect(throws: JOSEError.wrongIssuer(Self.issuer(Self.other))) {
            try validate(at: Self.tenant, iss: Self.issuer(Self.other), tid: Self.other)
        }
    }

    @Test func `a key signs only for the issuer that the key set names`() throws {
        let iss = Self.issuer(Self.tenant)
        let named = { (issuer: String) in #","kid":"k1","issuer":"\#(issuer)""# }
        _ = try validate(at: "common", iss: iss, tid: Self.tenant, key: named(Self.template))
        _ = try validate(at: "common", iss: iss, tid: Self.tenant, key: named(iss))
        #expect(throws: JOSEError.keyOfAnotherIssuer) {
            try validate(at: "common", iss: iss, tid: Self.tenant, key: named(Self.issuer(Self.other)))
        }
    }
}
