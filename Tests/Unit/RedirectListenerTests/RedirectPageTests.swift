import Basics
import TestSupport
import Testing

@testable import authrefreshd

struct RedirectPageTests {
    @Test func `characters of HTML in a title, a text, an advice or a command are escaped`() {
        let evil = "\"><script>alert('x')</script>&amp;"
        let page = RedirectPage(.failure, title: evil, text: evil, advice: evil, command: Command(verbatim: evil))
        let html = page.html(nonce: "0")
        #expect(!html.contains("<script") && !html.contains("'x'"))
        #expect(html.ranges(of: "&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&amp;amp;").count == 5)
    }

    @Test(arguments: [RedirectPage.unknown, .noAnswer])
    func `the page for a refused request has whole sentences, and says what to do`(_ page: RedirectPage) {
        #expect(MessageForm.flaws(ofPage: page.title, page.text, advice: page.advice, command: nil) == [])
        #expect(page.advice != nil && page.command == nil)
    }

    @Test func `no preceding scalar hides a special character`() {
        // U+D800 to U+DFFF are no scalars.
        let all = (0...0x10FFFF as ClosedRange<UInt32>).compactMap(Unicode.Scalar.init)
        var text = String.UnicodeScalarView()
        for scalar in all {
            text.append(scalar)
            text.append("<")
        }
        let html = RedirectPage.escaped(String(text))
        #expect(!html.utf8.contains(UInt8(ascii: "<")))
        #expect(html.utf8.count { $0 == UInt8(ascii: "&") } == all.count + "&<>\"'".count)
        for sign in ["&", "<", ">", "\"", "'"] {
            #expect(RedirectPage.escaped("\u{D4E}\(sign)") == "\u{D4E}" + RedirectPage.escaped(sign))
        }
    }

    @Test(arguments: [RedirectPage.Mood.success, .notice, .failure])
    func `a page of each mood fits a telephone, follows the dark mode, and loads nothing`(mood: RedirectPage.Mood) {
        let html = RedirectPage(mood, title: "T", text: "t").html(nonce: "0")
        #expect(html.hasPrefix("<!doctype html>"))
        #expect(html.contains("width=device-width") && html.contains("prefers-color-scheme: dark"))
        #expect(!html.contains("src=") && !html.contains("url(") && !html.contains("@import"))
    }
}
