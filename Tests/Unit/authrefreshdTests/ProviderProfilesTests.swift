import Basics
import OAuthClient
import OAuthMessages
import RefreshCore
import TestSupport
import Testing

@testable import authrefreshd

struct ProviderProfilesTests {
    @Test func `a profile of a later folder replaces one of the same name`() throws {
        let folder = try TemporaryFolder()
        try folder.write("name: example\nissuer: https://one.example\n", to: "a/example.yaml")
        try folder.write("name: example\nissuer: https://two.example\n", to: "b/mine.yaml")
        try folder.write("not a profile", to: "b/README")
        let profiles = try ProviderProfiles(folders: ["a", "none", "b"].map { folder.path + "/" + $0 })
        #expect(profiles.names == ["example"])
        #expect(profiles.named("example")?.issuer == (try Issuer(url: "https://two.example")))
        // The issuer of the replaced profile belongs to no profile any more.
        #expect(profiles.profile(provider: nil, issuer: try Issuer(url: "https://one.example")) == nil)
    }

    @Test func `two profiles of one name in one folder are an error`() throws {
        let folder = try TemporaryFolder()
        try folder.write("name: example\n", to: "a/one.yaml")
        let second = try folder.write("name: example\n", to: "a/two.yaml")
        #expect(
            throws: ProgramError.configuration(
                "'\(second)': another file in this folder also has a profile named 'example'"
            )
        ) {
            try ProviderProfiles(folders: [folder.path + "/a"])
        }
    }

    @Test func `an account's own profile wins over its issuer's`() throws {
        let folder = try TemporaryFolder()
        try folder.write("name: one\nissuer: https://one.example\n", to: "a/one.yaml")
        try folder.write("name: two\n", to: "a/two.yaml")
        let profiles = try ProviderProfiles(folders: [folder.path + "/a"])
        let issuer = try Issuer(url: "https://one.example")
        #expect(profiles.profile(provider: nil, issuer: issuer)?.name == "one")
        #expect(profiles.profile(provider: "two", issuer: issuer)?.name == "two")
        #expect(profiles.profile(provider: "gone", issuer: issuer) == nil)
    }
}
