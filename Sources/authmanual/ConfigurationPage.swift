/// The manual page of a configuration file whose sample explains each key.
struct ConfigurationPage {
    /// The file's name: `authrefreshd.yaml`.
    let name: String
    let sample: String
    let edition: ManualPage.Edition

    var page: ManualPage {
        var page = ManualPage(name: name, section: 5, summary: "configuration of authrefreshd", edition: edition)
        page.title("DESCRIPTION")
        page.add([
            .paragraph(
                "The file is YAML. This sample, which systemd/install puts in place, explains every key with its unit and "
                    + "its default; a key that is not set has the value that stands behind its '#'."
            ),
            .literal(sample.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)),
        ])
        page.title("FILES")
        page.list([
            ("Pa \\(ti/.config/authrefreshd/authrefreshd.yaml", "The configuration."),
            (
                "Pa \\(ti/.config/authrefreshd/providers.d/*.yaml",
                "Provider profiles; those that are installed are their own documentation."
            ),
        ])
        page.seeAlso([("authctl", 1), ("authrefreshd", 1)])
        return page
    }
}
