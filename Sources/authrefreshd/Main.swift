internal import ArgumentParser
internal import CLinux
internal import CSwiftRuntime
internal import Glibc
internal import StandardDescriptors

/// The program: chooses where its tasks run, then starts the command.
@main
enum Main {
    static func main() {
        // One heap for all threads, which seldom allocate at the same moment: what one has given back serves the others, and 0.9 MiB less
        // stay in memory than with a heap for each.
        mallopt(M_ARENA_MAX, 1)
        SignalWatch.hold()
        StandardDescriptors.fillGaps()
        authrefresh_run_tasks_on_own_queue()
        Task { @concurrent in
            do {
                try await AuthRefreshDaemon.parse().run()
                await JournalLogHandler.drain()
                exit(0)
            } catch {
                await JournalLogHandler.drain()
                AuthRefreshDaemon.end(with: error)
            }
        }
        SignalWatch.run()
    }
}
