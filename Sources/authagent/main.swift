// For the linker: the client of the wire needs it, and a static one is complete only if a static target imports it.
internal import FoundationEssentials
internal import Basics
internal import Glibc

fillStandardDescriptors()
_ = signal(SIGPIPE, SIG_IGN)

/// The path of `authctl`, which is installed next to this program.
func authctlPath() -> String {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = unsafe readlink("/proc/self/exe", &path, path.count)
    let program = String(decoding: path[..<max(count, 0)].map(UInt8.init(bitPattern:)), as: UTF8.self)
    return program[..<(program.lastIndex(of: "/") ?? program.startIndex)] + "/authctl"
}

/// The address to open: a line on standard input, because every user of this machine can read argument lists.
func address() throws(ProgramError) -> String {
    guard let line = readLine(), line.hasPrefix("http://") || line.hasPrefix("https://") else {
        throw ProgramError(
            .badData,
            "standard input has no line with an http or https address",
            hint: "pass the address on one line: \(Command(program: "echo", "https://example.org")) | authagent --open"
        )
    }
    return line
}

/// Opens an address through the desktop's portal, and exits.
func openByPortal(parentWindow: String) throws(ProgramError) {
    let uri = try address()
    let portal = try Portal(address: Agent.sessionBus)
    try portal.open(uri, parentWindow: parentWindow, activationToken: environmentValue("XDG_ACTIVATION_TOKEN"))
}

let wrongArguments = ProgramError(
    .usage,
    "wrong arguments",
    hint: "authagent [--socket PATH], or authagent --open [PARENT-WINDOW]"
)

do throws(ProgramError) {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.first == "--open" {
        guard arguments.count <= 2 else { throw wrongArguments }
        try openByPortal(parentWindow: arguments.dropFirst().first ?? "")
        exit(0)
    }
    guard arguments.isEmpty || arguments.count == 2 && arguments[0] == "--socket" else { throw wrongArguments }
    var agent = try Agent(namedSocket: arguments.last, authctl: authctlPath())
    try agent.run()
} catch {
    let hint = error.hint.map { "authagent: hint: \($0.text)\n" } ?? ""
    let line = Array("authagent: error: \(error.message)\n\(hint)".utf8)
    _ = unsafe write(STDERR_FILENO, line, line.count)
    exit(error.status.rawValue)
}
