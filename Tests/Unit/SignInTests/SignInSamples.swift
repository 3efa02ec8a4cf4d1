import RefreshCore

@testable import authrefreshd

/// Values for the sign-ins of these tests.
enum SignInSamples {
    static let id = "s1"
    static let issuer = "https://sso.example.org"
    static let state = "pnvKx6jYmXg0p8yWcQ1nUe9V3dLr7tBsZaHfOiEkT4M"

    static let start = Moment(
        wall: Timestamp(microseconds: 1_700_000_000_000_000),
        boot: BootTime(bootID: 1, microseconds: 50_000_000)
    )

    static func expectation(requiresIssuer: Bool = false, isCodeBound: Bool = true) -> AuthorizationExpectation {
        AuthorizationExpectation(
            state: Secret(state),
            issuer: issuer,
            requiresIssuer: requiresIssuer,
            isCodeBound: isCodeBound
        )
    }

    static func response(_ form: String) throws -> AuthorizationResponse {
        try AuthorizationResponse(form: Array(form.utf8))
    }

    /// An attempt that was begun at `start`.
    static func attempt(
        _ flow: SignInFlow = .browser,
        storedSubject: String? = nil,
        replaces: Bool = false
    ) -> SignInAttempt {
        SignInAttempt(
            id: id,
            plan: SignInPlan(
                flow: flow,
                storedSubject: storedSubject,
                replacesSubject: replaces,
                startedAt: start
            )
        )
    }

    static func failure(_ failureClass: FailureClass) -> RefreshFailure {
        RefreshFailure(failureClass, detail: FailureDetail(summary: "what failed"))
    }
}

extension Moment {
    func later(_ duration: Duration) -> Moment {
        Moment(
            wall: wall + duration,
            boot: BootTime(bootID: boot.bootID, microseconds: boot.microseconds + duration.microseconds)
        )
    }
}
