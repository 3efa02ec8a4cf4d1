// For the linker: the YAML package needs Foundation, and a static Foundation is complete only if a static target
// imports it.
internal import Foundation
internal import CommandLineProgram
internal import Glibc
internal import StandardDescriptors

StandardDescriptors.fillGaps()
_ = signal(SIGPIPE, SIG_IGN)
CoreDumps.hideMemory()

var messages = Messages(isJSON: CommandLine.arguments.contains("--json"), called: .usual)
do throws(ImportError) {
    let request = try ImportRequest(Array(CommandLine.arguments.dropFirst()))
    messages = Messages(isJSON: request.isJSON, called: request.called)
    var session = ImportSession(request, messages)
    exit(try session.run().rawValue)
} catch {
    messages.tell(error)
    exit(error.status.rawValue)
}
