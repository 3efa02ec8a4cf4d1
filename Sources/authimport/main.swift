// For the linker: the YAML package needs Foundation, and a static Foundation is complete only if a static target
// imports it.
internal import Foundation
internal import Basics
internal import Glibc

fillStandardDescriptors()
_ = signal(SIGPIPE, SIG_IGN)
CoreDumps.hideMemory()

var output = ImportOutput(isJSON: CommandLine.arguments.contains("--json"), called: .usual)
do throws(ProgramError) {
    let request = try ImportRequest(Array(CommandLine.arguments.dropFirst()))
    output = ImportOutput(isJSON: request.isJSON, called: request.called)
    if let file = request.settingsFile {
        try output.answer(SettingsText(file).json)
        exit(ExitStatus.success.rawValue)
    }
    var session = ImportSession(request, output)
    exit(try session.run().rawValue)
} catch {
    output.tell(error)
    exit(error.status.rawValue)
}
