internal import Basics
internal import RefreshCore

extension SignInEnd {
    /// What names the policy in which people reset their password.
    static func passwordResetCommand(for account: AccountName) -> Command {
        Command("account", "edit", account.text, "--provider-setting", "password_reset_policy=POLICY")
    }

    /// Why there are no tokens, for the journal: constant text, none of it the server's.
    var reason: String {
        switch self {
        case .completed: "completed"
        case .policyCompleted: "the policy is complete"
        case .passwordForgotten: "the person has forgotten the password"
        case .cancelled(.user): "cancelled"
        case .cancelled(.superseded): "a newer sign-in has begun"
        case .cancelled(.removed): "the account was removed"
        case .cancelled(.changed): "the account was changed"
        case .cancelled(.stopping): "the daemon is stopping"
        case .denied: "declined at the server"
        case .timedOut: "nobody came back in time"
        case .failed(let failure): failure.reason
        case .otherSubject: "somebody other than the account's owner signed in"
        }
    }
}
