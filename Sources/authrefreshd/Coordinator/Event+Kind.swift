internal import RefreshCore

/// What the coordinator has to know of an event before it is decided on.
extension Event {
    /// The token set that it is about; nil if it is about the account's default token, or the account as a whole.
    var tokenSet: TokenSet? {
        switch self {
        case .tokenSetNeeded(let set), .tokenSetRejected(let set), .tokenSetIssued(let set, _, _),
            .tokenSetFailed(let set, _, _):
            set
        case .deadlineReached, .tokenNeeded, .refreshRequested, .accessTokenRejected, .tokensIssued,
            .refreshFailed, .demandRefused, .lifetimeLearned, .exchangeContinues, .exchangeAbandoned, .grantImported,
            .grantObtained, .accessTokenObtained, .grantProved, .parked, .unparked, .accountUpdated,
            .connectivityRestored, .leaseReturned, .sourceLacking, .sourceChanged, .signedOut:
            nil
        }
    }

    /// Whether it brings tokens that the server has just issued.
    var isIssuance: Bool {
        switch self {
        case .tokensIssued, .tokenSetIssued, .grantObtained, .accessTokenObtained, .grantProved: true
        case .refreshFailed, .demandRefused, .tokenSetFailed, .deadlineReached, .tokenNeeded, .tokenSetNeeded,
            .refreshRequested, .accessTokenRejected, .tokenSetRejected, .lifetimeLearned, .exchangeContinues,
            .exchangeAbandoned,
            .grantImported, .parked, .unparked, .accountUpdated, .connectivityRestored, .leaseReturned,
            .sourceLacking, .sourceChanged, .signedOut:
            false
        }
    }

    /// Whether it is the end of a sign-in.
    var isSignIn: Bool {
        switch self {
        case .grantObtained, .accessTokenObtained: true
        case .tokensIssued, .refreshFailed, .demandRefused, .tokenSetIssued, .tokenSetFailed, .deadlineReached,
            .tokenNeeded, .tokenSetNeeded, .refreshRequested, .accessTokenRejected, .tokenSetRejected,
            .lifetimeLearned, .exchangeContinues, .exchangeAbandoned, .grantImported, .grantProved, .parked, .unparked,
            .accountUpdated, .connectivityRestored, .leaseReturned, .sourceLacking, .sourceChanged, .signedOut:
            false
        }
    }

    /// Whether it is the end of an exchange, which happens once.
    var isAnswer: Bool {
        switch self {
        case .tokensIssued, .refreshFailed, .demandRefused, .tokenSetIssued, .tokenSetFailed, .grantObtained,
            .accessTokenObtained, .grantProved, .leaseReturned, .sourceLacking:
            true
        case .deadlineReached, .tokenNeeded, .tokenSetNeeded, .refreshRequested, .accessTokenRejected,
            .tokenSetRejected, .lifetimeLearned, .exchangeContinues, .exchangeAbandoned, .grantImported, .parked,
            .unparked,
            .accountUpdated, .connectivityRestored, .sourceChanged, .signedOut:
            false
        }
    }

    /// Whether it is of no interest once nobody waits for its outcome.
    var isForWaiters: Bool {
        switch self {
        case .tokenNeeded, .tokenSetNeeded, .refreshRequested: true
        case .deadlineReached, .accessTokenRejected, .tokenSetRejected, .tokensIssued, .refreshFailed,
            .demandRefused, .tokenSetIssued, .tokenSetFailed, .lifetimeLearned, .exchangeContinues, .exchangeAbandoned,
            .grantImported, .grantObtained, .accessTokenObtained, .grantProved, .parked, .unparked,
            .accountUpdated, .connectivityRestored, .leaseReturned, .sourceLacking, .sourceChanged, .signedOut:
            false
        }
    }

    /// Whether a request that follows from it may wait until the issuer's gate is open.
    var waitsForGate: Bool {
        switch self {
        case .deadlineReached, .tokenNeeded, .tokenSetNeeded, .refreshRequested, .accessTokenRejected,
            .tokenSetRejected:
            true
        case .tokensIssued, .refreshFailed, .demandRefused, .tokenSetIssued, .tokenSetFailed,
            .lifetimeLearned, .exchangeContinues, .exchangeAbandoned, .grantImported, .grantObtained,
            .accessTokenObtained,
            .grantProved, .parked, .unparked, .accountUpdated, .connectivityRestored, .leaseReturned,
            .sourceLacking, .sourceChanged, .signedOut:
            false
        }
    }
}
