/// The manual page of a configuration file, from the sample that explains each key.
struct ConfigurationPage {
    /// The file's name: `authrefreshd.yaml`, or the name of the sample for several files.
    let name: String
    let sample: String
    let edition: ManualPage.Edition

    private var summary: String {
        name == "provider-profile.yaml" ? "description of a provider for authrefreshd" : "configuration of authrefreshd"
    }

    var page: ManualPage {
        var page = ManualPage(name: name, section: 5, summary: summary, edition: edition)
        page.title("DESCRIPTION")
        page.add([
            .paragraph(
                "The file is YAML. The sample below comes with the program, and explains every key. A line that begins "
                    + "with '#' is a comment."
            ),
            .literal(sample.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)),
        ])
        page.title("FILES")
        page.list([
            ("Pa \\(ti/.config/authrefreshd/authrefreshd.yaml", "The configuration."),
            (
                "Pa \\(ti/.config/authrefreshd/providers.d/*.yaml",
                "Provider profiles. The comments in the installed ones explain them."
            ),
        ])
        page.seeAlso(
            [("authctl", 1), ("authrefreshd", 1), ("authrefreshd.yaml", 5), ("provider-profile.yaml", 5)].filter {
                $0.0 != name
            }
        )
        return page
    }
}
