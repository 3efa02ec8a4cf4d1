internal import DemoIssuer

extension FaultTable {
    /// The connection cannot be made, or is lost.
    static let connectionRows =
        [
            FaultRow("connection refused", .name(.nobody), .retries("the server could not be reached")),
            FaultRow("no route", .name(.unrouted), .retries("the server could not be reached")),
            FaultRow("closed at once", .door(.slammed), .retries("server")),
            FaultRow("accepted, then silence", .door(.silent), .retries("in time")),
            FaultRow(
                "asked, then silence",
                .endpoint(.delayBefore(.seconds(3600))),
                .retries("did not answer in time")
            ),
            FaultRow(
                "asked, then closed",
                .endpoint(.cutBefore),
                .retries("the connection was lost before the answer arrived")
            ),
            // No connection is kept.
            FaultRow("kept connection closed at its reuse", .endpoint(.cutReused), .unnoticed),
        ]
        + [
            (CertificateFault.expired, "certificate expired", "certificate has expired"),
            (.notYetValid, "certificate not yet valid", "certificate is not valid yet"),
            (.wrongName, "certificate for another name", "certificate is for another host"),
            (.unknownAuthority, "certificate of an unknown authority", "no authority that this machine trusts"),
        ].map { fault, name, text in
            FaultRow(name, .door(.certificate(fault)), .misconfigured(text))
        }

    static let nameRows = [
        FaultRow("no such name (DNS)", .name(.noSuchName), .retries("the server's name could not be resolved")),
        FaultRow("DNS fails", .name(.serverFailure), .retries("the server's name could not be resolved")),
        FaultRow("DNS is silent", .name(.silence), .retries("in time")),
    ]

    /// The server executes the request, and the fault affects the answer.
    static let answerRows = [
        FaultRow("answer lost, with a grace period", .endpoint(.cutAfter), grace: grace, .retries("lost")),
        FaultRow(
            "answer too late, with a grace period",
            .endpoint(.delayAfter(.seconds(60))),
            grace: grace,
            .retries("in time")
        ),
        FaultRow("answer cut half-way", .endpoint(.truncate), grace: grace, .retries("lost")),
        FaultRow("reset half-way", .endpoint(.reset), grace: grace, .retries("lost")),
        FaultRow("a byte a second", .endpoint(.drip(.seconds(1))), grace: grace, .retries("in time")),
        FaultRow(
            "answer lost once, no grace period",
            .endpoint(.cutAfter, times: 1),
            .needsPerson("outcomeUnknown", "the answer to a refresh was lost", recovery: .grant)
        ),
        FaultRow("answer twice", .endpoint(.double), .unnoticed),
        FaultRow(
            "invalid_grant once, not meant",
            .endpoint(.answer(.oauthError("invalid_grant")), times: 1),
            .needsPerson("grantEnded", "the grant has ended")
        ),
        FaultRow("server's clock 2 years ahead", .clock(.seconds(63_115_200)), .unnoticed),
        FaultRow("server's clock 2 years behind", .clock(.seconds(-63_115_200)), .unnoticed),
        FaultRow("expires_in 0", .endpoint(.expiresIn("0")), .retries("has already expired")),
        FaultRow("expires_in -3600", .endpoint(.expiresIn("-3600")), .retries("has already expired")),
        FaultRow("expires_in 10¹²", .endpoint(.expiresIn("1000000000000")), .unnoticed),
        FaultRow("expires_in \"3600\"", .endpoint(.expiresIn(#""3600""#)), .unnoticed),
        FaultRow("expires_in \"soon\"", .endpoint(.expiresIn(#""soon""#)), .unnoticed),
    ]

    /// Longer than any exchange of a run.
    private static let grace = Duration.seconds(3600)
}
