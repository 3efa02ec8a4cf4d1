internal import AuthRefreshInterface

/// Why a command did not do its work.
indirect enum AuthctlError: Error, Hashable, Sendable {
    /// A secret was typed as an argument. `option` is the option's name without its value.
    case secretAsArgument(option: String)
    /// The word in a command's place is none. `suggestion` is a command that is spelled nearly so.
    case unknownCommand(suggestion: String?, helpCommand: String)
    /// The arguments do not fit together; nothing was asked of the daemon.
    case usage(message: String, hint: String?)
    case secretFile(SecretFileError)
    /// What a file holds is not what the command needs. `message` does not repeat it.
    case unusableDocument(message: String, hint: String?)
    /// Secrets would have gone to a terminal.
    case secretsToTerminal
    case cannotCreateFile(path: String, errno: Int32)
    case cannotWriteOutput(errno: Int32)
    case cannotReadBackup(errno: Int32)

    case connection(ConnectionError)
    case refused(Refusal)
    /// The new name of an account is another's. Unlike in `refused`, nothing about that other account is to be advised.
    case nameTaken(Refusal)

    /// The daemon answered with a state in which the refresh has failed.
    case notFresh(AccountStatus)
    /// The account was changed, but its first refresh did not succeed. `done` tells the change.
    case keptButNotFresh(done: String, cause: AuthctlError)
    /// One step of a sign-out was not done; those after it were.
    case signOutFailed(account: String, step: String, reason: String)
    /// The failures were told one by one; only the status is left to say.
    case reported(ExitStatus)
    /// The program that notifies is not where it should be.
    case cannotStartAgent(path: String, errno: Int32)
    /// The daemon's program, which restores a store, cannot be started.
    case cannotStartDaemon(path: String, errno: Int32)
    case noPrivateWindow(PrivateWindowRefusal)
    case cancelled
}
