import AuthRefreshInterface
import Basics
import OAuthMessages
@testable import RefreshCore
@testable import authrefreshd
import TestSupport
import Testing
import Varlink

/// Missing settings that prevent sign-ins at a provider. They are found before anything is stored or a code is spent.
struct MissingSettingTests {
    private func configuration(_ yaml: String) throws -> RefreshConfiguration {
        let folder = try TemporaryFolder()
        try folder.write("name: p\n" + yaml, to: "a/p.yaml")
        return RefreshConfiguration(profiles: try ProviderProfiles(folders: [folder.path + "/a"]))
    }

    private func account(scopes: [String] = [], port: Int? = nil, settings: [String: String] = [:]) throws -> Account {
        Account(
            id: AccountID(1),
            name: try #require(AccountName("work")),
            issuer: try Issuer(url: "https://as.example.org"),
            provider: "p",
            providerSettings: settings,
            registration: ClientRegistration(
                clientID: "app",
                scopes: scopes,
                redirect: RegisteredRedirect(port: port)
            )
        )
    }

    @Test func `a missing port that the provider compares is reported with the profile's note`() throws {
        var settings = try configuration(
            "required_settings: [redirect_port]\nnotes: [{about: redirects, text: \"Register one.\"}]\n"
        )
        let missing = settings.missingSetting(of: try account())
        #expect(missing?.complaint.field == "redirectPort")
        #expect(missing?.complaint.hint == "--redirect-port PORT (Register one.)")
        #expect(settings.missingSetting(of: try account(port: 8400)) == nil)
        // An account can say that it needs no such setting.
        #expect(settings.missingSetting(of: try account(settings: ["required_settings": ""])) == nil)
    }

    @Test(arguments: [
        (SignInFlow?.none, true), (.browser, true), (.paste, false), (.device, false), (.scheme, false),
    ])
    func `only a browser that comes back to this machine needs the port`(_ flow: SignInFlow?, _ isRefused: Bool) throws
    {
        var settings = try configuration("required_settings: [redirect_port]\n")
        let failure = settings.failure(of: SignInRequest(flow: flow), to: try account())
        #expect((failure != nil) == isRefused)
        #expect(failure?.kind == (isRefused ? .misconfigured : nil))
        #expect(failure?.hint?.text == (isRefused ? "authctl account edit work --redirect-port PORT" : nil))
    }

    @Test(arguments: [SignInFlow.browser, .paste, .device])
    func `no code is requested that would bring no access token`(flow: SignInFlow) throws {
        var settings = try configuration("required_settings: [scopes]\nscopes: [openid, offline_access]\n")
        var request = SignInRequest(flow: flow)
        #expect(settings.failure(of: request, to: try account()) != nil)
        #expect(settings.failure(of: request, to: try account(scopes: ["openid", "email"])) != nil)
        #expect(settings.failure(of: request, to: try account(scopes: ["openid", "app"])) == nil)
        request.scopes = ["openid", "https://example.onmicrosoft.com/api/read"]
        #expect(settings.failure(of: request, to: try account()) == nil)
    }

    @Test(
        arguments: [
            (nil, true, "d"), ("invalid_client", true, "d"), ("invalid_client", false, "c"),
            ("redirect_uri_mismatch", false, "r"), ("invalid_scope", false, "s"), ("access_denied", false, nil),
            (nil, false, nil),
        ] as [(String?, Bool, String?)]
    )
    func `a failed sign-in repeats the profile's note`(
        _ code: String?,
        _ isByDevice: Bool,
        _ note: String?
    ) throws {
        var profile = ProviderProfile(name: "p")
        profile.notes = [
            ProfileNote(.client, "c"), ProfileNote(.redirects, "r"), ProfileNote(.scopes, "s"),
            ProfileNote(.device, "d"),
        ]
        let detail = FailureDetail(summary: "no", oauthError: code)
        let end = SignInEnd.failed(SignInFailure(RefreshFailure(.misconfigured, detail: detail)))
        let noted = end.noted(from: profile, isByDevice: isByDevice)
        let name = try #require(AccountName("work"))
        let refusal = String(decoding: noted.error(of: SignInTarget(account: name)).parameters, as: UTF8.self)
        #expect(refusal.contains("(") == (note != nil), "\(refusal)")
        if let note { #expect(refusal.contains("(\(note))"), "\(refusal)") }
        // Waiting helps here, so no note about the provider is shown.
        let passing = SignInEnd.failed(SignInFailure(RefreshFailure(.unavailable, detail: detail)))
        #expect(passing.noted(from: profile, isByDevice: true) == passing)
    }

    @Test(arguments: [(InteractionReason.grantEnded, true), (.userRequired, false)])
    func `the doctor repeats the note about ending grants if a grant has ended`(
        _ reason: InteractionReason,
        _ isRepeated: Bool
    ) throws {
        let settings = try configuration("notes: [{about: lifetime, text: \"Sign-ins end after 7 days.\"}]\n")
        let now = Moment(wall: Timestamp(microseconds: 1_000_000), boot: BootTime(bootID: 1, microseconds: 0))
        let failure = RefreshFailure(.grantEnded, detail: FailureDetail(summary: "it has ended"))
        let interaction = InteractionRequired(reason: reason, since: now.wall, failure: failure)
        let state = RefreshState(phase: .interactionRequired(interaction))
        var survey = AccountSurvey(total: 1, settings: settings, now: now)
        survey.look(at: .whole(AccountSnapshot(account: try account(), state: state, at: now)))
        let advice = survey.findings.first?.advice ?? ""
        #expect(advice.hasPrefix("authctl login work"), "\(advice)")
        #expect(advice.hasSuffix("(Sign-ins end after 7 days.)") == isRepeated, "\(advice)")
    }

    @Test func `a lifetime from the sign-in applies, whoever states its length`() throws {
        var settings = try configuration("refresh_token_lifetime: 30d\nrefresh_token_lifetime_from: sign-in\n")
        let policy = settings.policy(of: try account())
        #expect(policy.refreshTokenLifetime == .seconds(2_592_000))
        #expect(policy.isRefreshTokenLifetimeAbsolute)
        var own = try account()
        own.policy.refreshTokenLifetime = .seconds(86_400)
        #expect(settings.policy(of: own).refreshTokenLifetime == .seconds(86_400))
        #expect(settings.policy(of: own).isRefreshTokenLifetimeAbsolute)
        var other = try configuration("refresh_token_lifetime: 30d\n")
        #expect(!other.policy(of: try account()).isRefreshTokenLifetimeAbsolute)
    }
}
