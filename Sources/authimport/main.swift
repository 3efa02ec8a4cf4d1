// For the linker: the YAML package needs Foundation, and a static Foundation is complete only if a static target
// imports it.
internal import Foundation
internal import Glibc
internal import StandardDescriptors

StandardDescriptors.fillGaps()
_ = signal(SIGPIPE, SIG_IGN)
// This process has refresh tokens in memory. A crash must not write them to disk.
var none = rlimit(rlim_cur: 0, rlim_max: 0)
unsafe setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)

do throws(ImportError) {
    let request = try ImportRequest(Array(CommandLine.arguments.dropFirst()))
    var session = ImportSession(request)
    exit(try session.run())
} catch {
    let isJSON = CommandLine.arguments.contains("--json")
    Messages.write(isJSON ? error.json : error.text)
    exit(error.status)
}
