import OAuthMessages
import RefreshCore

extension RefreshFailure {
    /// The failure of an exchange without success, with what the server said.
    init(_ conclusion: AuthenticatedPost.Conclusion, hiding secrets: [Secret], correlationID: String, now: Timestamp) {
        let row = conclusion.row ?? FailureTable.anythingElse
        let answer = try? conclusion.answer.get()
        let reading = ErrorReading(conclusion.body?.fields ?? [:])
        let clean = { (text: String?) in FailureText.clean(text, hiding: secrets) }
        self.init(
            row.failureClass,
            detail: FailureDetail(
                summary: row.summary,
                httpStatus: answer?.status,
                oauthError: clean(reading.error),
                oauthErrorDescription: clean(reading.description),
                subError: clean(reading.subError),
                providerCode: clean(reading.providerCode),
                correlationID: correlationID
            ),
            retryAfter: answer?.retryAfter(now: now)
        )
    }
}

extension RequestingClient {
    /// The failure of an exchange without success.
    func failure(
        _ conclusion: AuthenticatedPost.Conclusion,
        hiding secrets: [Secret],
        now: Timestamp
    ) -> RefreshFailure {
        let all = secrets + [registration.clientSecret, conclusion.assertion].compactMap(\.self)
        var failure = RefreshFailure(conclusion, hiding: all, correlationID: correlationID, now: now)
        // Servers delete clients that nobody used for some time, or that were there before their database was new.
        if registration.isSelfRegistered, failure.detail.deniesClient {
            failure.detail.summary = "the server no longer accepts the client that it registered for this account"
            failure.detail.finding = .clientForgotten
        }
        if registration.clientAssertionFile != nil,
            failure.detail.deniesClient || conclusion.row?.remedy == .credential
                || conclusion.transportCause.map(Self.assertionCauses.contains) == true
        {
            failure.detail.finding = .clientAssertion
        }
        return failure
    }
    private static let assertionCauses: Set<TransportCause> = [.assertionFile, .assertionFileHangs, .assertionExpired]
}

extension AuthenticatedPost.Conclusion {
    /// Why no answer came; nil if one did.
    fileprivate var transportCause: TransportCause? {
        if case .failure(let failure) = answer { failure.cause } else { nil }
    }
}
