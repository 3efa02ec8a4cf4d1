import Basics
@testable import RefreshCore
import Testing

@testable import authrefreshd

/// The advice for a misconfigured account.
@Suite struct RemedyTests {
    @Test(
        arguments: [
            ("invalid_client", 401, "authctl account edit work --client-secret-file FILE, or --client-id ID"),
            ("Invalid_Client", 400, "authctl account edit work --client-secret-file FILE, or --client-id ID"),
            ("unauthorized_client", 400, "authctl account edit work --client-secret-file FILE, or --client-id ID"),
            (
                "deleted_client", 401,
                "enable the client in the server's console, or use another one:"
                    + " authctl account edit work --client-id ID --client-secret-file FILE"
            ),
            ("invalid_scope", 400, "authctl account edit work --scope SCOPE"),
            ("invalid_target", 400, "authctl account edit work --param resource=URL"),
            ("unsupported_grant_type", 400, "see 'authctl account edit --help' for what can be changed"),
            (nil, 404, "authctl account edit work --issuer URL"),
            (
                nil, 400,
                "authctl login work, or, if the client is wrong:"
                    + " authctl account edit work --client-id ID --client-secret-file FILE"
            ),
            (
                nil, nil,
                "authctl account edit work --issuer URL, if the address is wrong;"
                    + " else correct this machine's clock, ca_file or proxy"
            ),
        ] as [(String?, Int?, String)]
    )
    func `the cause decides the hint`(code: String?, status: Int?, remedy: String) throws {
        let detail = FailureDetail(summary: "refused", httpStatus: status, oauthError: code)
        #expect(try detail.remedy(for: #require(AccountName("work"))).text == remedy)
    }

    @Test(
        arguments: [
            ("invalid_client", 400, true), ("invalid_client", 401, true), ("unauthorized_client", 401, true),
            ("unauthorized_client", 400, false), ("invalid_grant", 400, false), (nil, 401, false),
        ] as [(String?, Int, Bool)]
    )
    func `a server has forgotten the client that it registered if it does not accept it`(
        code: String?,
        status: Int,
        isForgotten: Bool
    ) {
        let detail = FailureDetail(summary: "refused", httpStatus: status, oauthError: code)
        var registration = ClientRegistration(clientID: "app", wasSelfRegistered: true)
        let now = Timestamp(microseconds: 0)
        #expect(registration.isForgotten(after: detail, at: now) == isForgotten)
        registration.wasSelfRegistered = false
        #expect(!registration.isForgotten(after: detail, at: now))
    }

    @Test(
        arguments: [
            ("AADSTS700025", nil, "authctl account edit work --client-auth none"),
            ("AADSTS9002327", nil, "headers={Origin: http://localhost}"),
            ("AADSTS7000218", nil, "switch on \"Allow public client flows\""),
            ("AADSTS530033", nil, "authctl login work --flow browser"),
            ("AADSTS50105", nil, "assign the user to the app; then authctl refresh work"),
            // An error that came through a browser has its code in the description.
            (nil, "AADSTS53003: Access has been blocked", "about the policy; then authctl refresh work"),
        ] as [(String?, String?, String)]
    )
    func `Entra's code decides the hint`(code: String?, description: String?, part: String) throws {
        let detail = FailureDetail(
            summary: "refused",
            httpStatus: 400,
            oauthError: "invalid_client",
            oauthErrorDescription: description,
            providerCode: code
        )
        let work = try #require(AccountName("work"))
        #expect(detail.remedyOfCodes(for: work, then: Command("refresh", "work"))?.text.contains(part) == true)
        #expect(detail.remedy(for: work).text.contains(part))
    }

    @Test(
        arguments: [
            (nil, nil, nil, "authctl account edit wiki --issuer URL, if the address is wrong;"),
            (nil, nil, 404, "authctl account edit wiki --issuer URL"),
            ("bot", nil, nil, "authctl status bot"), ("work", nil, nil, "authctl status work"),
            // A former source, by a name that no account has any more.
            ("gone", nil, nil, "authctl account edit wiki --issuer URL, if the address is wrong;"),
            (nil, "invalid_request", 400, "authctl refresh work bot"),
            (nil, "invalid_client", 401, "authctl account edit wiki --client-secret-file FILE"),
        ] as [(String?, String?, Int?, String)]
    )
    func `a derived account's server and its sources are not confused`(
        source: String?,
        code: String?,
        status: Int?,
        remedy: String
    ) throws {
        let account = { (name: String) in SourceToken(account: try #require(AccountName(name))) }
        let terms = ExchangeTerms(subject: try account("work"), actor: try account("bot"))
        let detail = FailureDetail(
            summary: "refused",
            httpStatus: status,
            oauthError: code,
            source: source.flatMap(AccountName.init)
        )
        let advice = try detail.remedy(for: #require(AccountName("wiki")), by: .tokenExchange(terms))
        #expect(advice.text.hasPrefix(remedy), "\(advice.text)")
    }
}
