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
        let all = secrets + (registration.clientSecret.map { [$0] } ?? [])
        var failure = RefreshFailure(conclusion, hiding: all, correlationID: correlationID, now: now)
        // Servers delete clients that nobody used for some time, or that were there before their database was new.
        if registration.isSelfRegistered, failure.detail.deniesClient {
            failure.detail.summary = "the server no longer accepts the client that it registered for this account"
            failure.detail.finding = .clientForgotten
        }
        return failure
    }
}
