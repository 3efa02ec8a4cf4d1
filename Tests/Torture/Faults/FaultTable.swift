internal import DemoIssuer

/// All faults and the expected behaviour of the daemon. This is the only place for them.
///
/// For each fault, these rules also hold: a valid access token is returned while it is valid; a refresh token is never
/// lost, unless the last column says that a new grant is needed; requests are not more frequent than
/// `Expectation.mostAttempts`; and after the end of the fault, the account becomes fresh again.
enum FaultTable {
    static let rows = statusRows + retryAfterRows + contentRows + connectionRows + nameRows + answerRows

    /// The server or a gateway refuses with a status and nothing else.
    private static let statusRows =
        [
            FaultRow("500", status(500), .retries("the server is temporarily unavailable")),
            FaultRow("502", status(502), .retries("a gateway lost the server's answer")),
            FaultRow("503", status(503), .retries("the server is temporarily unavailable")),
            FaultRow("504", status(504), .retries("a gateway lost the server's answer")),
            FaultRow("429", status(429), .retries("the server limits the rate of requests")),
            FaultRow("408", status(408), .retries("the server did not accept the request now")),
            FaultRow("407", status(407), .retries("the proxy asks for credentials")),
            FaultRow(
                "403 with a page",
                .endpoint(.answer(.html(status: 403))),
                first: .retries("a web page came back"),
                .retries("a web page refuses the request")
            ),
            FaultRow(
                "404",
                status(404),
                // Later, it is an outage for an hour.
                first: .misconfigured("there is no token endpoint at this address"),
                .retries("there is no token endpoint at this address")
            ),
            FaultRow("404 with a page", .endpoint(.answer(.html(status: 404))), .retries("a web page came back")),
            FaultRow(
                "403 without a word",
                status(403),
                // Before any success, the request itself may be wrong. Later, the refusal is not believed for ten
                // minutes.
                first: .misconfigured("refused without giving a reason"),
                .retries("refused without giving a reason")
            ),
        ]
        + (520...527).map { code in
            let isLost = [520, 524].contains(code)
            return FaultRow(
                "\(code)",
                status(code),
                .retries(isLost ? "a gateway lost the server's answer" : "the server is temporarily unavailable")
            )
        }

    private static let retryAfterRows = [
        FaultRow(
            "503, Retry-After: 20",
            status(503, ["Retry-After": "20"]),
            .waits(20...22, "the server is temporarily unavailable")
        ),
        FaultRow(
            "429, Retry-After: 20",
            status(429, ["Retry-After": "20"]),
            .waits(20...22, "the server limits the rate of requests")
        ),
        FaultRow(
            "503, Retry-After: a date",
            // The refresh is due within two minutes of the fault's beginning.
            .retryDate(.seconds(300)),
            .waits(100...331, "the server is temporarily unavailable")
        ),
        FaultRow(
            "503, Retry-After: a far date",
            status(503, ["Retry-After": "Fri, 31 Dec 2060 23:59:59 GMT"]),
            .waits(3600...3960, "the server is temporarily unavailable", recovery: .later)
        ),
        FaultRow(
            "503, Retry-After: a past date",
            status(503, ["Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"]),
            .retries("the server is temporarily unavailable")
        ),
        FaultRow(
            "503, Retry-After: 10¹²",
            status(503, ["Retry-After": "1000000000000"]),
            .waits(3600...3960, "the server is temporarily unavailable", recovery: .later)
        ),
        FaultRow(
            "503, Retry-After: -5",
            status(503, ["Retry-After": "-5"]),
            .retries("the server is temporarily unavailable")
        ),
        FaultRow(
            "503, Retry-After: soon",
            status(503, ["Retry-After": "soon"]),
            .retries("the server is temporarily unavailable")
        ),
    ]

    /// An answer comes that is not one of a token endpoint.
    private static let contentRows = [
        FaultRow("200 with a page", .endpoint(.answer(.html())), .retries("the answer is a web page")),
        FaultRow(
            "redirect to another host",
            status(302, ["Location": "https://portal.example.test/login"]),
            .retries("a redirect to another host")
        ),
        FaultRow(
            "200 with an error",
            .endpoint(.answer(.oauthError("temporarily_unavailable", status: 200))),
            .retries("temporarily unavailable")
        ),
        FaultRow("200, empty", .endpoint(.answer(.empty)), .retries("the answer has no access token")),
        FaultRow(
            "200, JSON cut off",
            json(#"{"access_token":"abc","token_type":"Bea"#),
            .retries("the answer has no access token")
        ),
        FaultRow(
            "200, wrong types",
            json(#"{"access_token":[17],"token_type":[],"expires_in":{},"refresh_token":false}"#),
            .retries("the answer has no access token")
        ),
        FaultRow("200, not JSON at all", .endpoint(.answer(.junk)), .retries("the answer has no access token")),
        FaultRow("a body of 100 MB", .endpoint(.huge(byteCount: 100_000_000)), .retries("larger than the limit")),
        FaultRow("a body without an end", .endpoint(.endless), .retries("larger than the limit")),
        FaultRow(
            "2,000 headers",
            .endpoint(.answer(CannedAnswer(status: 200, headers: manyHeaders, body: "{}"))),
            .retries("the connection was lost before the answer arrived")
        ),
        FaultRow(
            "a header of 1 MB",
            .endpoint(.answer(CannedAnswer(status: 200, headers: ["X-Bomb": String(repeating: "a", count: 1 << 20)]))),
            .retries("the connection was lost before the answer arrived")
        ),
    ]

    private static let manyHeaders = Dictionary(
        uniqueKeysWithValues: (0..<2_000).map { ("X-Bomb-\($0)", String(repeating: "b", count: 64)) }
    )

    private static func status(_ code: Int, _ headers: [String: String] = [:]) -> Trouble {
        .endpoint(.answer(CannedAnswer(status: code, headers: headers)))
    }

    private static func json(_ text: String) -> Trouble {
        .endpoint(.answer(CannedAnswer(status: 200, headers: ["Content-Type": "application/json"], body: text)))
    }
}
