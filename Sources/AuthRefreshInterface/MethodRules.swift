/// What the description cannot say about a method: the only list.
///
/// Who may call a method depends on the account, too: `PermissionDenied` in the description says it.
package struct MethodRules: Sendable {
    package enum Cost: Sendable {
        /// It reads, or gives out tokens.
        case nothing
        /// It writes a line or a row.
        case change
        /// It writes up to a thousand of them.
        case changes
        /// It asks a server of the caller's choice.
        case question
    }

    /// Whether a call without an answer may simply be made again. The method changes nothing, or the second call
    /// changes nothing that matters: it refreshes a token again, or makes another proof.
    package var isRepeatable = false
    /// What a call costs its process.
    package var cost = Cost.nothing
    /// Whether the answer depends on which provider profiles there are.
    package var namesProfiles = false
    /// Whether the caller has to ask for several replies.
    package var expectsMore = false
    /// Whether programs of other machines may call it (`authctl forward`).
    package var isForwarded = false
}

extension Method {
    package var rules: MethodRules {
        switch self {
        case .getInfo: MethodRules(isRepeatable: true)
        case .getMetrics: MethodRules(isRepeatable: true)
        case .getStatus: MethodRules(isRepeatable: true)
        case .listAccounts: MethodRules(isRepeatable: true)
        case .findAccount: MethodRules(isRepeatable: true)
        case .listUrls: MethodRules(isRepeatable: true)
        case .addAccount: MethodRules(cost: .change, namesProfiles: true)
        case .updateAccount: MethodRules(cost: .change, namesProfiles: true)
        case .applyAccounts: MethodRules(cost: .changes, namesProfiles: true)
        case .renameAccount: MethodRules(cost: .change)
        case .removeAccount: MethodRules(cost: .change)
        case .importGrant: MethodRules(cost: .change)
        case .exportGrant: MethodRules(cost: .change)
        case .resumeAccount: MethodRules(cost: .change)
        case .acquireToken: MethodRules(isRepeatable: true, isForwarded: true)
        case .provePossession: MethodRules(isRepeatable: true)
        case .reportRejected: MethodRules(isRepeatable: true, cost: .change, isForwarded: true)
        case .refresh: MethodRules(isRepeatable: true, cost: .change)
        case .subscribe: MethodRules(expectsMore: true)
        case .startSignIn: MethodRules(cost: .change, expectsMore: true)
        case .continueSignIn: MethodRules(cost: .change)
        case .cancelSignIn: MethodRules(cost: .change)
        case .startWebSession: MethodRules(expectsMore: true)
        case .serveConfirmations: MethodRules(expectsMore: true)
        case .answerConfirmation: MethodRules()
        case .signOut: MethodRules(cost: .change)
        case .backupStore: MethodRules(cost: .change)
        case .listProviders: MethodRules(isRepeatable: true, namesProfiles: true)
        case .discoverProvider: MethodRules(isRepeatable: true, cost: .question)
        case .checkServer: MethodRules(isRepeatable: true, cost: .question, namesProfiles: true)
        case .discoverResource: MethodRules(isRepeatable: true, cost: .question)
        case .rekeyStore: MethodRules(cost: .change)
        case .checkStore: MethodRules(cost: .change)
        case .diagnose: MethodRules(cost: .question)
        }
    }
}
