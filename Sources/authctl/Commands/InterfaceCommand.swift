internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics

/// `authctl interface`.
struct InterfaceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "interface",
        abstract: "Print the description of the daemon's Varlink interface.",
        discussion: """
            Examples:

              \(InvokedAs.here) interface | less

            It is the description that this program was built with; the daemon is not asked.
            """
    )

    @OptionGroup var output: OutputOptions

    /// Every command accepts this option. It has no effect here.
    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        try output.print(["description": Interface.text], or: Interface.text)
    }
}
