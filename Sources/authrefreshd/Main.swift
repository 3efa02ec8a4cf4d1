internal import ArgumentParser
internal import CSwiftRuntime
internal import Glibc
internal import NIOCore
internal import OAuthClient
internal import Basics

/// The program: it chooses where its tasks run, then starts the command.
@main
enum Main {
    static func main() {
        SignalWatch.hold()
        // A connection that its server has closed is an error of that exchange, and not this program's end.
        _ = signal(SIGPIPE, SIG_IGN)
        HTTPLibrary.ignoreKeyLog()
        // A file that may not grow any more is an error like a full disk, and not this program's end.
        _ = signal(SIGXFSZ, SIG_IGN)
        fillStandardDescriptors()
        authrefresh_run_tasks_on_own_queue()
        // All connections share one loop. NIO would start one for each processor, with memory of its own.
        NIOSingletons.groupLoopCountSuggestion = 1
        Task { @concurrent in
            do {
                try await DaemonCommand.parse().run()
                await JournalLogHandler.drain()
                exit(0)
            } catch {
                await JournalLogHandler.drain()
                DaemonCommand.end(with: error)
            }
        }
        SignalWatch.run()
    }
}
