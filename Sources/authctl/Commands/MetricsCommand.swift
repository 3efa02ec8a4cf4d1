internal import ArgumentParser
internal import AuthRefreshInterface
internal import Basics

/// `authctl metrics`.
struct MetricsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "metrics",
        abstract: "Print figures for Prometheus: accounts by state, refreshes, failures, latency.",
        discussion: """
            Examples:

              \(InvokedAs.here) metrics
              \(InvokedAs.here) metrics --output /var/lib/node_exporter/authrefresh.prom
              \(InvokedAs.here) metrics --json | jq .states

            The text has Prometheus's exposition format. With --output it goes to a file, which the textfile \
            collector of node_exporter can read. The file is replaced in one step, and every user may read it: it \
            contains account names, but no secrets. A pipe or a device is written into.

            With more than 1000 accounts, only those that are retrying, misconfigured or need a person have \
            figures of their own. Counters begin at 0 when the daemon starts.
            """
    )

    @Option(
        name: [.short, .long],
        help: .value("file", "Write to this file instead of standard output; it is replaced."),
        completion: .file()
    )
    var output: String?

    @OptionGroup var form: OutputOptions

    @OptionGroup var connection: ConnectionOptions

    func run() throws(Report) {
        guard !form.json || output == nil else {
            throw .usage("'--output' takes the text format only", hint: "leave out '--json'")
        }
        var daemon = try connection.connect()
        let metrics = try daemon.ask(GetMetrics.Parameters())
        guard let output else { return try form.print(metrics, or: MetricsText(metrics).text) }
        try OutputFile.write(MetricsText(metrics).text, to: output)
    }
}
