internal import ArgumentParser
internal import Basics

/// `authctl agent`.
struct AgentCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agent",
        abstract: "Show a desktop notification when an account needs you, with a button to sign in.",
        discussion: """
            Examples:

              \(InvokedAs.here) agent

            Shows one notification for each account, with the desktop's own notification server. The notification \
            disappears when the account works again. If you dismiss it, it comes back only when the account needs \
            you again. At most three are shown at a time. The button runs '\(InvokedAs.here) login'; if that fails, the \
            notification comes back and says why.

            systemd starts it with the graphical session: systemctl --user status authrefresh-agent.

            Runs until the session ends. Exit status: 69 if the daemon or the session bus does not answer.
            """
    )

    @Flag(help: "Accepted by every command; this one has no answer to print.")
    var json = false

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        // It is a separate program, because this one is static and libsystemd cannot be linked statically.
        try ProgramBeside.agent.become(connection.socket.map { ["--socket", $0] } ?? [])
    }
}
